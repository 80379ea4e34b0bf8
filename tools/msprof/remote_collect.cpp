// `msprof collect`: copies a program's directory to a board, runs it there, brings its JOB directories back.
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "profiler/collect/acl_config.h"
#include "tools/common/flags.h"
#include "tools/common/stop_signals.h"
#include "tools/common/tool.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/post_process.h"
#include "tools/msprof/say.h"
#include "tools/msprof/ssh_session.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct RemoteSettings {
  fs::path main;
  fs::path output;
  json profiler;                                    ///< of acl.json
  std::optional<profiler::CollectOptions> options;  ///< the same; none with the switch off
  bool exports = false;
};

RemoteSettings remote_settings(const po::variables_map& flags) {
  RemoteSettings settings{.main = text_of(flags, "main"), .output = text_of(flags, "output")};
  std::error_code ignored;
  if (!fs::is_regular_file(settings.main, ignored))
    throw Error(ExitCode::kUsage, "there is no such program", settings.main.string());
  settings.main = fs::canonical(settings.main);
  for (const char* key : {"switch", "acl_api", "aacpu", "interval", "aac_metrics"})
    settings.profiler[key] = text_of(flags, key);
  settings.options = profiler::options_from_acl_json(settings.profiler);
  if (!settings.options && settings.profiler["switch"] != "off")
    reject("--switch", "is neither on nor off");
  settings.exports = flags.contains("all");
  return settings;
}

/// A directory on the board, removed with everything in it, and the program that runs there, ended with all that it started.
class RemoteDirectory {
 public:
  explicit RemoteDirectory(SshSession& session) : session_(session) {
    std::istringstream made(session_.output_of("mktemp -d -t msprof_XXXXXX"));
    std::getline(made, path_);
  }
  ~RemoteDirectory() {
    try {
      end_program();
      session_.output_of("rm -rf " + shell_quoted(path_));
    } catch (const Error& e) {
      std::cerr << "msprof: warning: " << path_ << " stays on the board: " << e.what() << std::endl;
    }
  }
  RemoteDirectory(const RemoteDirectory&) = delete;
  RemoteDirectory& operator=(const RemoteDirectory&) = delete;
  const std::string& path() const { return path_; }

  /// Runs `program` in its place; nullopt when a stop is requested.
  std::optional<int> run(const std::string& program, const std::stop_token& stop) {
    is_running_ = true;
    // The session of an SSH command is its process group: exec keeps the number for all that the program starts.
    const auto status = session_.run(
        "echo $$ >" + shell_quoted(path_ + "/group") + " && " + program,
        [](std::string_view text) { std::cout << text << std::flush; }, stop);
    if (status) is_running_ = false;
    return status;
  }
  /// Asks it to end, and makes it end after some seconds. Throws Error.
  void end_program() {
    if (!std::exchange(is_running_, false)) return;
    session_.output_of(
        "group=$(cat " + shell_quoted(path_ + "/group") +
        ") || exit 0; kill -TERM -$group 2>/dev/null; "
        "for i in 1 2 3 4 5; do kill -0 -$group 2>/dev/null || break; sleep 1; done; "
        "kill -KILL -$group 2>/dev/null; true");
  }

 private:
  SshSession& session_;
  std::string path_;
  bool is_running_ = false;
};

/// Each acl.json of the project gets the profiler object, whatever else it holds; without one, there is one beside the program.
void write_acl_json(SshSession& session, const fs::path& project, const std::string& remote,
                    const json& profiler) {
  bool is_written = false;
  for (const auto& entry : fs::recursive_directory_iterator(project)) {
    if (entry.path().filename() != "acl.json" || !entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    json config = json_or_discarded(std::string(std::istreambuf_iterator<char>(in), {}));
    if (!config.is_object()) config = json::object();
    config["profiler"] = profiler;
    session.write_file(remote + "/" + entry.path().lexically_relative(project).string(),
                       json_text(config, 2) + "\n");
    is_written = true;
  }
  if (!is_written)
    session.write_file(remote + "/acl.json", json_text(json{{"profiler", profiler}}, 2) + "\n");
}

/// What msprof signs in with is nobody's on the board. Throws Error(kInterrupted) when a stop is requested.
std::function<bool(const fs::path&)> what_is_copied(const fs::path& config,
                                                    const std::stop_token& stop) {
  return [=](const fs::path& path) {
    if (stop.stop_requested()) throw Error(ExitCode::kInterrupted, "stopped while copying");
    std::error_code ignored;  // a broken link, say: no such file
    return path.filename() != "ssh.ini" && !fs::equivalent(path, config, ignored);
  };
}

/// Programs that give aclInit() no acl.json are told by the environment.
std::string command_line(const RemoteSettings& settings, const std::string& project) {
  std::string command = "cd " + shell_quoted(project) + " && exec ";
  if (settings.options)
    command += "env " + std::string(profiler::kOptionsVariable) + "=" +
               shell_quoted(json_text(profiler::to_json(*settings.options))) + " ";
  return command + "./" + shell_quoted(settings.main.filename().string());
}

std::vector<fs::path> bring_back(SshSession& session, const std::string& jobs,
                                 const fs::path& output) {
  std::vector<fs::path> directories;
  std::istringstream names(session.output_of("ls " + shell_quoted(jobs)));
  for (std::string name; std::getline(names, name);) {
    if (!name.starts_with("JOB") || name.find('/') != std::string::npos) continue;
    directories.push_back(output / name);
    session.download(jobs + "/" + name, directories.back());
  }
  return directories;
}

ExitCode collect(const fs::path& config_file, RemoteSettings settings) {
  const SshConfig config = read_ssh_config(config_file);
  const StopSignals signals;
  SshSession session(config);
  RemoteDirectory remote(session);
  const std::string project = remote.path() + "/project";
  const std::string jobs = remote.path() + "/jobs";
  session.output_of("mkdir " + shell_quoted(project) + " " + shell_quoted(jobs));
  say("Copying " + settings.main.parent_path().string() + " to " + config.ip + ".");
  session.upload(settings.main.parent_path(), project,
                 what_is_copied(config_file, signals.token()));
  settings.profiler["output"] = jobs;
  if (settings.options) settings.options->output = jobs;
  write_acl_json(session, settings.main.parent_path(), project, settings.profiler);

  say("Start profiling....");
  const std::optional<int> ended = remote.run(command_line(settings, project), signals.token());
  remote.end_program();
  const int status = ended.value_or(static_cast<int>(ExitCode::kInterrupted));
  const std::string name = settings.main.filename().string();
  say(ended ? name + " ended with exit status " + std::to_string(status) + "."
            : "Stopped, and " + name + " with it.");
  const std::vector<fs::path> directories = bring_back(session, jobs, settings.output);
  for (const fs::path& directory : directories) {
    if (settings.exports) parse_and_export(directory, ExportAs::kText);
    say("Process profiling data complete. Data is saved in " + directory.string());
  }
  if (directories.empty() && settings.options && ended)
    throw Error(status > 0 ? static_cast<ExitCode>(status) : ExitCode::kFailure,
                "nothing was collected", settings.main.string(),
                "the program must call aclInit of this library");
  return status >= 0 ? static_cast<ExitCode>(status) : ExitCode::kFailure;
}

}  // namespace

int run_remote_collection(int argc, char** argv) {
  Tool tool{
      .name = "msprof collect",
      .synopsis = "msprof collect -m MAIN --config ssh.ini [flags]",
      .summary =
          "Copies the directory of a program to a board over SSH, runs the program there, and "
          "brings its JOB* directories back.\n"
          "ssh.ini: section [ssh_config] with ip, username, port, and key_file or pwd; "
          "readable by its owner alone.",
      .examples = "  msprof collect -m out/main --config ssh.ini --output=jobs --all\n"};
  auto add = tool.flags.add_options();
  add("main,m", text("MAIN")->required(), "the program; its directory is copied");
  add("config", text("FILE")->required(), "how to reach the board");
  add("interval", text_or("0", "N"), "sample every n-th execution of a model; 0: all");
  add("acl_api", text_or("on", "on|off"), "calls of AscendCL");
  add("aacpu", text_or("on", "on|off"), "details of ops on the reference path");
  add("switch", text_or("on", "on|off"), "off: run the program without collecting");
  add("aac_metrics", text_or("ArithmeticUtilization", "GROUP"), "group of hardware counters");
  add("output", text_or(".", "DIR"), "where JOB* directories go");
  add("all", "import and export as well");
  tool.ends_on_signals = false;
  tool.run = [](const po::variables_map& flags) {
    return collect(text_of(flags, "config"), remote_settings(flags));
  };
  return run_tool(argc, argv, std::move(tool));
}

}  // namespace aoe::tools
