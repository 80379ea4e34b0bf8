// Tool: what every program of the product has in common: flags, --help, --log, and the wall that
// turns whatever is thrown into one line on stderr and a documented exit code (base/error.h).
//
//   int main(int argc, char** argv) {
//     Tool tool{.name = "aoe_run", .synopsis = "aoe_run --model=M.om [flags]", .summary = "Runs an
//     offline model."}; tool.flags.add_options()("model,m",
//     po::value<std::string>()->required()->value_name("FILE"), "the model"); tool.run = [](const
//     po::variables_map& flags) { ...; return ExitCode::kSuccess; }; return run_tool(argc, argv,
//     std::move(tool));
//   }
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/common/flags.h"

namespace aoe::tools {

struct Tool {
  std::string name;
  std::string synopsis;
  std::string summary;  ///< one or two sentences, a paragraph a line; and a table of commands
  std::string
      examples;  ///< whole lines that 80 columns hold, shown at the end of --help; may be empty
  po::options_description flags{"Flags"};  ///< --help, --version and --log come by themselves
  po::positional_options_description
      positional;                        ///< none by default: a stray word is then an error
  std::vector<std::string> first_words;  ///< "report": other programs behind this one's name
  std::function<ExitCode(const po::variables_map&)> run;
  bool ends_on_signals = true;  ///< else it handles them itself (stop_signals.h)
};

/// Flags are `--name=value`, `--name value` or `-n value`; a name must be complete and may be given
/// once, unless its value is a vector. An unknown flag, a missing or malformed value is exit code
/// 2, with the nearest known name. Memory that runs out where nothing can be caught, in a thread of a library, is exit code
/// 1 like elsewhere.
int run_tool(int argc, char** argv, Tool tool);

}  // namespace aoe::tools
