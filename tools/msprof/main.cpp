// msprof: collects profiles of programs, and makes tables and timelines of them. This file finds out which of its sub-commands is
// meant.
#include <string>
#include <string_view>
#include <vector>

#include "base/near_names.h"
#include "tools/msprof/commands.h"

namespace aoe::tools {
namespace {

/// A sub-command by its first word ("import"), or by a flag where no program is given ("--export").
struct Command {
  std::string_view selector;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {
    {"collect", run_remote_collection},
    {"import", run_import_command},
    {"export", run_export_command},
    {"query", run_query_command},
    {"show", run_show_command},
    {"advise", run_advise_command},
    {"--parse", run_parse_mode},
    {"--query", run_query_mode},
    {"--analyze", run_analyze_mode},
    {"--export", run_export_mode},
    {"", run_collection},  // what no other claims
};

bool is_flag(std::string_view word) {
  return word.starts_with("-");
}

bool is_this_flag(std::string_view word, std::string_view flag) {
  return word == flag || (word.starts_with(flag) && word[flag.size()] == '=');
}

/// Flags before the first word are msprof's; a word, or --application, is the program to collect.
/// With --sys-period the machine alone is collected, with --dynamic a program that runs.
bool collects(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (!is_flag(argv[i]) || is_this_flag(argv[i], "--application") ||
        is_this_flag(argv[i], "--sys-period") || is_this_flag(argv[i], "--dynamic"))
      return true;
  return false;
}

bool is_chosen(const Command& command, int argc, char** argv) {
  if (command.selector.empty()) return true;
  if (!is_flag(command.selector)) return argc > 1 && argv[1] == command.selector;
  if (collects(argc, argv)) return false;
  for (int i = 1; i < argc; ++i)
    if (is_this_flag(argv[i], command.selector)) return true;
  return false;
}

int run_chosen(int argc, char** argv) {
  for (const Command& command : kCommands) {
    if (!is_chosen(command, argc, argv)) continue;
    const bool is_word = !command.selector.empty() && !is_flag(command.selector);
    return is_word ? command.run(argc - 1, argv + 1) : command.run(argc, argv);
  }
  return run_collection(argc, argv);
}

}  // namespace

std::string meant_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : kCommands)
    if (!command.selector.empty() && !is_flag(command.selector))
      names.emplace_back(command.selector);
  const auto near = near_names(word, names, 1);
  return near.empty() ? std::string() : did_you_mean({"msprof " + near.front()});
}

}  // namespace aoe::tools

int main(int argc, char** argv) {
  return aoe::tools::run_chosen(argc, argv);
}
