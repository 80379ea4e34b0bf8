// The pipe to the child.
#include "benchmarks/onnxruntime_peer.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace aoe::benchmarks {
using nlohmann::json;
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ExitCode::kFailure, what, "onnxruntime",
              "install Node.js and run `npm ci --ignore-scripts` in benchmarks/onnxruntime");
}

/// What all threads of a process have had of cores so far.
std::chrono::nanoseconds time_on_cores(pid_t process) {
  std::int64_t sum_ns = 0, ns = 0;
  std::error_code status;
  for (const auto& task :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/task", status))
    if (std::ifstream file(task.path() / "schedstat"); file >> ns) sum_ns += ns;
  return std::chrono::nanoseconds(sum_ns);
}

}  // namespace

OnnxRuntimePeer::OnnxRuntimePeer(const fs::path& server) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair failed");
  child_.reset(ends[0]);
  const Descriptor of_child(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const std::string script = server.string();
  const char* const program = server.extension() == ".py" ? "python3" : "node";
  const char* arguments[] = {program, script.c_str(), nullptr};
  const int status = ::posix_spawnp(&process_, program, &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) fail(std::string(program) + " does not start");
}

OnnxRuntimePeer::~OnnxRuntimePeer() {
  child_.reset();
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

json OnnxRuntimePeer::ask(const json& request) {
  const std::string line = json_text(request) + "\n";
  const auto gone = [&](const char* what) {
    is_alive_ = false;
    fail(what);
  };
  if (::send(child_.number(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size()))
    gone("ONNX Runtime's process is gone");
  std::size_t end = 0;
  while ((end = pending_.find('\n')) == std::string::npos) {
    char block[65536];
    const ssize_t n = ::read(child_.number(), block, sizeof block);
    if (n <= 0) gone("ONNX Runtime's process ended without an answer");
    pending_.append(block, static_cast<std::size_t>(n));
  }
  const json answer = parse_json(pending_.substr(0, end));
  pending_.erase(0, end + 1);
  if (answer.contains("error"))
    throw Error(ExitCode::kFailure, answer.at("error").get<std::string>(), "onnxruntime");
  return answer;
}

void OnnxRuntimePeer::wait_until_ready() {
  ask(json::object());
}

void OnnxRuntimePeer::load(const fs::path& model, int threads) {
  ask({{"load", fs::absolute(model).string()}, {"threads", threads}});
}

void OnnxRuntimePeer::feed(const std::vector<NamedTensor>& inputs, const fs::path& scratch) {
  json list = json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Constant& value = *inputs[i].value;
    const fs::path file = scratch / ("feed_" + std::to_string(i) + ".raw");
    write_file_atomically(file, {static_cast<const char*>(value.data()), value.size_bytes()});
    list.push_back({{"name", inputs[i].name},
                    {"type", name(value.desc().dtype)},
                    {"dims", value.desc().shape},
                    {"file", file.string()}});
  }
  ask({{"feed", list}});
}

std::vector<double> OnnxRuntimePeer::run(double seconds, int least) {
  return ask({{"run", {{"seconds", seconds}, {"least", least}}}}).at("times_ms");
}

void OnnxRuntimePeer::wait_until_idle() const {
  using std::chrono::milliseconds;
  constexpr milliseconds kLeast(30), kStep(10), kMost(1000);
  constexpr std::chrono::microseconds kIdle(500);
  std::this_thread::sleep_for(kLeast - kStep);
  for (milliseconds waited(0); waited < kMost; waited += kStep) {
    const auto before = time_on_cores(process_);
    std::this_thread::sleep_for(kStep);
    if (time_on_cores(process_) - before < kIdle) return;
  }
}

std::vector<NamedTensor> OnnxRuntimePeer::outputs(const fs::path& scratch) {
  std::vector<NamedTensor> outputs;
  const json answer = ask({{"dump", scratch.string()}});
  for (const json& each : answer.at("outputs")) {
    const auto dtype = data_type_from_name(each.at("type").get<std::string>());
    if (!dtype)
      throw Error(ExitCode::kFailure, "output of type " + each.at("type").get<std::string>(),
                  "onnxruntime");
    const TensorDesc desc{*dtype, each.at("dims").get<Shape>(), Format::kND};
    const std::string bytes = read_file(each.at("file").get<std::string>(), ExitCode::kFailure);
    if (bytes.size() != storage_bytes(desc))
      throw Error(ExitCode::kFailure, "output of a wrong size", "onnxruntime");
    outputs.push_back({each.at("name"), std::make_shared<const Constant>(desc, bytes.data())});
  }
  return outputs;
}

}  // namespace aoe::benchmarks
