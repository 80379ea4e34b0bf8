// Programs of several commands, such as aoe_bank and aoe_sign: the first word says which, the words behind it are its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/tool.h"

namespace aoe::tools {

using Words = std::vector<std::string>;
inline constexpr std::size_t kAnyWords = 100000;

/// What a program's row of a command begins with.
struct CommandWords {
  const char* name;
  std::size_t least = 0, most = 0;  ///< words behind the command
  const char* needs = "";           ///< what they are
};

/// A flag that means something to some commands alone.
struct FlagOfCommands {
  const char* flag;
  std::string_view commands;  ///< "show list"
};

/// Error(kUsage): there is no `kind` ("command") of that name, or none was given. Says which there are, or which was meant.
[[noreturn]] void reject_name(const std::string& kind, const std::string& name,
                              const std::vector<std::string>& known);

/// --command and --subject, which the words are.
void add_command_flags(Tool& tool);

/// Index of the command that was named. Error(kUsage): none was, or one that is not there.
std::size_t index_of_command(const po::variables_map& flags, const std::vector<std::string>& names);

/// The words behind the command. Error(kUsage): more or fewer than it takes.
Words words_of(const po::variables_map& flags, const CommandWords& command);

/// Error(kUsage): a flag was given that is of other commands.
void check_flags_of(const CommandWords& command, const po::variables_map& flags,
                    std::span<const FlagOfCommands> own);

template <typename Row, std::size_t kCount>
const Row& command_of(const po::variables_map& flags, const Row (&rows)[kCount]) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return rows[index_of_command(flags, names)];
}

}  // namespace aoe::tools
