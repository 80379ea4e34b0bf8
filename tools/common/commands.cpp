// Words and flags of commands.
#include "tools/common/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/near_names.h"
#include "base/words.h"

namespace aoe::tools {

void reject_name(const std::string& kind, const std::string& name,
                 const std::vector<std::string>& known) {
  const std::string all = fmt::format("{}s are: {}", kind, fmt::join(known, ", "));
  if (name.empty()) throw Error(ExitCode::kUsage, "no " + kind + " given", {}, all);
  const std::string meant = did_you_mean(near_names(name, known));
  throw Error(ExitCode::kUsage, "unknown " + kind + " '" + name + "'", {},
              meant.empty() ? all : meant);
}

void add_command_flags(Tool& tool) {
  auto add = tool.flags.add_options();
  add("command", text("COMMAND"), "the first word: what to do");
  add("subject", po::value<Words>()->value_name("WORD"), "the words behind it");
  tool.positional.add("command", 1).add("subject", -1);
}

std::size_t index_of_command(const po::variables_map& flags,
                             const std::vector<std::string>& names) {
  const std::string name = text_of(flags, "command");
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) reject_name("command", name, names);
  return static_cast<std::size_t>(found - names.begin());
}

Words words_of(const po::variables_map& flags, const CommandWords& command) {
  const Words words = flags.contains("subject") ? flags["subject"].as<Words>() : Words{};
  if (words.size() < command.least)
    throw Error(ExitCode::kUsage, std::string(command.name) + " needs " + command.needs, {},
                "see --help");
  if (words.size() > command.most)
    throw Error(ExitCode::kUsage,
                std::string(command.name) + " takes no '" + words[command.most] + "'");
  return words;
}

void check_flags_of(const CommandWords& command, const po::variables_map& flags,
                    std::span<const FlagOfCommands> own) {
  for (const auto& [flag, commands] : own) {
    if (!flags.contains(flag) || flags[flag].defaulted()) continue;
    const auto names = split_words(commands, ' ');
    if (std::ranges::find(names, command.name) == names.end())
      reject(std::string("--") + flag, fmt::format("is of {}", fmt::join(names, ", ")),
             std::string("leave it out for ") + command.name);
  }
}

}  // namespace aoe::tools
