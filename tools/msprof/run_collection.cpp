// Collecting: runs a program with the collection's options in its environment, or samples the system for a while.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/words.h"
#include "profiler/collect/collection.h"
#include "profiler/raw/raw_reader.h"
#include "profiler/raw/raw_writer.h"
#include "tools/common/stop_signals.h"
#include "tools/common/tool.h"
#include "tools/msprof/child.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/dynamic.h"
#include "tools/msprof/post_process.h"
#include "tools/msprof/run_settings.h"
#include "tools/msprof/say.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;

std::string new_session() {
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += std::to_string(random());
  return digits;
}

/// The directories that processes of this collection made, the oldest first.
std::vector<fs::path> directories_of(const profiler::CollectOptions& options) {
  std::vector<fs::path> found;
  std::error_code unreadable;  // nothing was made then
  for (const fs::directory_entry& entry : fs::directory_iterator(options.output, unreadable)) {
    std::ifstream sample(entry.path() / "host/sample.json");  // what cannot be read is not ours
    const nlohmann::json asked =
        json_or_discarded(std::string(std::istreambuf_iterator<char>(sample), {}));
    if (asked.is_object() && asked.value("session", "") == options.session)
      found.push_back(fs::canonical(entry.path()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// By writing a file: a full disk takes names, but no bytes.
void check_output(const fs::path& output) {
  std::error_code status;
  fs::create_directories(output, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be made a directory: " + status.message(),
                output.string(), "choose a writable place");
  const fs::path tried = output / ".msprof";
  write_file_atomically(tried, std::string(4096, '\n'));
  fs::remove(tried, status);
}

/// A collection stops before its disk is full.
void require_room(const fs::path& output) {
  check_output(output);
  std::error_code status;
  const fs::space_info space = fs::space(output, status);
  if (!status && space.available < profiler::kLeastFreeBytes)
    throw Error(
        ExitCode::kOutput,
        "less than " + std::to_string(profiler::kLeastFreeBytes >> 20) + " MB are left on the disk",
        output.string(), "choose a place with enough space");
}

void say_how_it_ended(const std::vector<std::string>& command, const ChildEnd& end) {
  if (end.signal != 0)
    say(command.front() + " was ended by signal " + std::to_string(end.signal) + " (" +
        ::strsignal(end.signal) + ").");
  else
    say(command.front() + " ended with exit status " + std::to_string(end.exit_code) + ".");
}

int collect_program(const RunSettings& settings) {
  std::map<std::string, std::string> environment = settings.environment;
  environment[profiler::kOptionsVariable] = json_text(profiler::to_json(settings.options));
  const ChildEnd end =
      run_child(settings.command, environment, meant_command(settings.command.front()));
  say_how_it_ended(settings.command, end);
  return end.exit_code;
}

/// 0, or what is returned when a signal ended it before its time.
int collect_system(const RunSettings& settings) {
  const StopSignals signals;
  profiler::CollectOptions options = settings.options;
  options.acl_api = options.runtime_api = options.task_memory = false;
  options.task_time = profiler::TaskTime::kOff;
  profiler::Collection collection(options);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any stopped;
  stopped.wait_for(lock, signals.token(), std::chrono::duration<double>(settings.system_period_s),
                   [] { return false; });
  collection.stop();
  return signals.token().stop_requested() ? static_cast<int>(ExitCode::kInterrupted) : 0;
}

/// The exit code of a program that failed goes before ours.
[[noreturn]] void say_why_nothing_was_collected(const RunSettings& settings, int exit_code) {
  const auto code = [&](ExitCode ours) {
    return exit_code == 0 ? ours : static_cast<ExitCode>(exit_code);
  };
  try {
    require_room(settings.options.output);  // the disk may be full by now
  } catch (const Error& error) {
    throw Error(code(error.code()), std::string("nothing was collected; ") + error.what());
  }
  throw Error(code(ExitCode::kFailure), "nothing was collected",
              settings.command.empty() ? std::string() : settings.command.front(),
              "the program must call aclInit of this library");
}

void export_collected(const RunSettings& settings, const fs::path& directory) {
  try {
    parse_and_export(directory, settings.type);
  } catch (const Error& error) {
    if (error.code() == ExitCode::kData)
      require_room(directory);  // or it holds too little for that
    throw;
  }
}

int run(const RunSettings& settings) {
  check_output(settings.options.output);
  if (!settings.without_effect.empty())
    std::cerr << "msprof: warning: without effect on this hardware: "
              << joined(settings.without_effect, ", ") << std::endl;
  if (settings.dynamic_pid != 0) return collect_dynamically(settings);
  say("Start profiling....");
  const int exit_code =
      settings.command.empty() ? collect_system(settings) : collect_program(settings);
  end_on_signals("msprof");
  const std::vector<fs::path> directories = directories_of(settings.options);
  if (directories.empty()) say_why_nothing_was_collected(settings, exit_code);
  for (const fs::path& directory : directories) {
    if (settings.exports) export_collected(settings, directory);
    say("Process profiling data complete. Data is saved in " + directory.string());
  }
  return exit_code;
}

}  // namespace

int run_collection(int argc, char** argv) {
  const int flags_end = static_cast<int>(
      std::find_if(argv + 1, argv + argc, [](const char* word) { return *word != '-'; }) - argv);
  const std::vector<std::string> words(argv + flags_end, argv + argc);
  Tool tool{.name = "msprof",
            .synopsis = "msprof [flags] APP [arguments]",
            .summary =
                "Runs a program and collects what AscendCL, models and ops do in it, into "
                "OUTPUT/PROF_*. Or works on what was collected, each with --help of its own:\n"
                "  show DIR         four tables: times by op and type, of AscendCL, of cores\n"
                "  advise DIR       what could be faster, with evidence\n"
                "  export WHAT DIR  timeline, summary or db\n"
                "  query DIR        which models and iterations there are\n"
                "  import DIR       imports anew\n"
                "  collect          runs the program on a board, over SSH\n"
                "Flags are --name=value, before the program. The exit status is the program's, if "
                "that is not 0.",
            .examples =
                "  msprof --output=prof aoe_run --model=resnet50.om\n"
                "  msprof --output=prof --runtime-api=on --host-sys-usage=cpu,mem ./app 42\n"
                "  msprof --output=prof --application=\"./app 42\" --storage-limit=500MB\n"
                "  msprof --output=prof --sys-period=10 --sys-profiling=on\n"
                "  msprof --output=prof --dynamic=on --pid=1234\n"};
  add_run_flags(tool.flags);
  tool.ends_on_signals = false;  // what was collected until then is kept
  tool.run = [&](const po::variables_map& flags) {
    return static_cast<ExitCode>(run([&] {
      RunSettings settings = run_settings(flags, words);
      settings.options.output = fs::absolute(settings.options.output);
      settings.options.session = new_session();
      return settings;
    }()));
  };
  return run_tool(flags_end, argv, std::move(tool));
}

}  // namespace aoe::tools
