// Parsing flags with Boost.Program_options, and the walls around a program.
#include "tools/common/tool.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/near_names.h"
#include "base/system_failure.h"
#include "base/thread_lack.h"
#include "base/utf8.h"
#include "tools/common/help_text.h"
#include "tools/common/standard_streams.h"
#include "tools/common/stop_signals.h"
#include "tools/common/version.h"

namespace aoe::tools {
namespace {

/// Results and profiles are JSON, which holds text alone.
void check_encoding(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (!is_utf8(argv[i]))
      throw Error(ExitCode::kUsage, "word " + std::to_string(i) + " is not UTF-8 text", {},
                  "rename the file, or set a UTF-8 locale");
}

constexpr const char* kStray = "stray word";  // no flag has a name with a blank

/// Where the program takes no words, or no more, those that are too many get a name of their own.
po::positional_options_description with_strays(const Tool& tool) {
  po::positional_options_description words = tool.positional;
  if (words.max_total_count() != std::numeric_limits<unsigned>::max()) words.add(kStray, -1);
  return words;
}

/// "model=m.onnx" lacks its dashes; "reprot" is nearly another program.
std::string advice_for_stray(const std::string& word, const Tool& tool,
                             const po::options_description& all_flags) {
  const std::string name = word.substr(0, word.find('='));
  if (all_flags.find_nothrow(name, false) != nullptr) return did_you_mean({"--" + word});
  const auto near = near_names(word, tool.first_words, 1);
  return near.empty() ? "see --help" : did_you_mean({tool.name + " " + near.front()});
}

void check_strays(const po::parsed_options& parsed, const Tool& tool,
                  const po::options_description& all_flags) {
  for (const auto& option : parsed.options)
    if (option.string_key == kStray)
      throw Error(ExitCode::kUsage, "'" + option.value.front() + "' is not a flag", {},
                  advice_for_stray(option.value.front(), tool, all_flags));
}

po::variables_map parse(int argc, char** argv, const Tool& tool,
                        const po::options_description& all_flags) {
  check_encoding(argc, argv);
  namespace style = po::command_line_style;
  constexpr int kStyle = style::allow_long | style::long_allow_adjacent | style::long_allow_next |
                         style::allow_short | style::allow_dash_for_short | style::short_allow_next;
  po::variables_map values;
  const po::positional_options_description words = with_strays(tool);
  try {
    const po::parsed_options parsed = po::command_line_parser(argc, argv)
                                          .options(all_flags)
                                          .positional(words)
                                          .style(kStyle)
                                          .run();
    check_strays(parsed, tool, all_flags);
    check_numbers(parsed, all_flags);
    po::store(parsed, values);
    if (!values.contains("help") && !values.contains("version")) po::notify(values);
  } catch (const po::unknown_option& e) {
    const std::string flag = e.get_option_name().substr(0, e.get_option_name().find('='));
    throw Error(ExitCode::kUsage, "unknown flag '" + flag + "'", {},
                advice_for_unknown(flag, all_flags));
  } catch (po::invalid_command_line_syntax& e) {
    const bool has_none = e.kind() == po::invalid_syntax::missing_parameter;
    throw Error(ExitCode::kUsage, text_of(e), {},
                has_none ? "write " + e.get_option_name() + "=VALUE" : "see --help");
  } catch (po::error& e) {
    throw Error(ExitCode::kUsage, text_of(e), {}, "see --help");
  }
  return values;
}

void print_help(const Tool& tool, const po::options_description& all_flags) {
  std::cout << "usage: " << tool.synopsis << "\n\n" << wrapped(tool.summary) << "\n\n" << all_flags;
  if (!tool.examples.empty()) std::cout << "\nExamples:\n" << tool.examples;
}

ExitCode run(int argc, char** argv, const Tool& tool) {
  po::options_description all_flags(tool.flags);
  all_flags.add_options()("log",
                          po::value<std::string>()->default_value("warning")->value_name("LEVEL"),
                          "debug, info, warning, error or null (trace says everything)");
  all_flags.add_options()("version", "of this program, LLVM and oneDNN, and this machine's name");
  all_flags.add_options()("help,h", "this text");
  const po::variables_map flags = parse(argc, argv, tool, all_flags);
  if (flags.contains("help")) {
    print_help(tool, all_flags);
    return ExitCode::kSuccess;
  }
  if (flags.contains("version")) {
    std::cout << version_text(tool.name.substr(0, tool.name.find(' ')));
    return ExitCode::kSuccess;
  }
  if (const auto& level = flags["log"].as<std::string>(); !set_log_level(level))
    throw Error(ExitCode::kUsage, "unknown level '" + level + "'", "--log", "see --help");
  return tool.run(flags);
}

ExitCode complain(const Tool& tool, ExitCode code, const std::string& what) {
  std::cerr << tool.name << ": error: " << what << std::endl;
  return code;
}

/// The wall: nothing is thrown beyond it.
ExitCode run_guarded(int argc, char** argv, const Tool& tool) {
  try {
    if (tool.ends_on_signals) end_on_signals(tool.name);
    const ExitCode code = run(argc, argv, tool);
    finish_standard_output();
    return code;
  } catch (const Error& e) {
    return complain(tool, e.code(), e.what());
  } catch (const InternalError& e) {
    return complain(tool, ExitCode::kInternal, e.what());
  } catch (const OutOfMemory& e) {
    return complain(tool, ExitCode::kFailure, e.what());
  } catch (const std::bad_alloc&) {
    return complain(tool, ExitCode::kFailure,
                    "out of memory; use a larger machine, or raise its limit (ulimit -v)");
  } catch (const std::exception& e) {
    if (is_system_failure(e)) return complain(tool, ExitCode::kFailure, text_of_exception(e));
    return complain(tool, ExitCode::kInternal, std::string("unexpected: ") + e.what());
  }
}

std::string ended_program;  // what the handler names
std::terminate_handler other_ends = nullptr;

iovec part(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};
}

/// Allocates nothing.
[[noreturn]] void end_at_once(std::string_view why) {
  const std::array<iovec, 4> line = {part(ended_program), part(": error: "), part(why), part("\n")};
  [[maybe_unused]] const ssize_t written = ::writev(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(ExitCode::kFailure));
}

/// The last wall: memory and threads may run out where nobody can catch it, in a thread of a library (the bank's store writes its
/// files in such) or in a destructor. Every other exception that comes here is a bug, and wants a core.
[[noreturn]] void end_without_resources() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_at_once("out of memory");
  } catch (const std::exception& e) {
    if (is_lack_of_threads(e)) end_at_once(text_of_exception(e));
  } catch (...) {  // falls through
  }
  other_ends();
  std::abort();
}

}  // namespace

namespace {
/// A write beyond `ulimit -f` then fails as on a full disk. By a handler, which programs that are started do not inherit.
void outlive_file_size_limit() {
  struct sigaction before {};
  ::sigaction(SIGXFSZ, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}
}  // namespace

int run_tool(int argc, char** argv, Tool tool) {
  occupy_closed_streams();
  outlive_file_size_limit();
  ended_program = tool.name;
  other_ends = std::set_terminate(end_without_resources);
  return static_cast<int>(run_guarded(argc, argv, tool));
}

}  // namespace aoe::tools
