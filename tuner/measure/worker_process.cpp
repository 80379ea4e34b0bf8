// posix_spawn with a socket and a captured stderr.
#include "tuner/measure/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/error.h"
#include "base/memory_file.h"
#include "base/system_calls.h"
#include "tuner/measure/core_wait.h"
#include "tuner/measure/worker.h"

extern char** environ;

namespace aoe::tuner {
namespace {

using Clock = std::chrono::steady_clock;

Error cannot_start(const char* step, int error) {
  return {
      ExitCode::kFailure,
      fmt::format("the measuring process cannot be started ({}: {})", step, std::strerror(error)),
      "", "free some memory or process slots"};
}

/// A process group of its own: Ctrl-C on the terminal reaches the parent, which decides.
pid_t spawn(const std::filesystem::path& file, int socket, int stderr_file) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, stderr_file, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&files, stderr_file, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, socket, kWorkerSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  std::string program = "aoe-worker";
  std::string mode = kWorkerArgument;
  char* const argv[] = {program.data(), mode.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, file.c_str(), &files, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw cannot_start("posix_spawn", error);
  return pid;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw cannot_start("socketpair", errno);
  socket_.reset(ends[0]);
  const Descriptor end(ends[1]);
  // dup2 onto itself would keep close-on-exec: the worker must not be given descriptor 3 as it is.
  const Descriptor theirs(::fcntl(end.number(), F_DUPFD_CLOEXEC, kWorkerSocket + 1));
  if (!theirs.is_open()) throw cannot_start("fcntl", errno);
  stderr_ = make_memory_file("aoe_worker_stderr");
  if (!stderr_.is_open()) throw cannot_start("memfd_create", errno);
  pid_ = spawn(program, theirs.number(), stderr_.number());
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    wait_for(pid_, status);
  }
}

void WorkerProcess::send(const nlohmann::json& message) {
  AOE_CHECK(pid_ > 0, "the worker is buried");
  outbox_.add(message);
  (void)outbox_.send(socket_.number());
}

ReceiveStatus WorkerProcess::receive(nlohmann::json& message, std::chrono::duration<double> timeout,
                                     std::chrono::duration<double> end,
                                     const std::stop_token& stop) {
  constexpr double kPatience = 6;  // times `timeout`; ten others to a core are more than that
  const Clock::time_point begin = Clock::now();
  const std::uint64_t waited_before = longest_core_wait_ns(pid_);
  const auto after = [&](std::chrono::duration<double> time) {
    return begin + std::chrono::duration_cast<Clock::duration>(std::min(time, end));
  };
  const WaitLimit limit = {.at = after(timeout), .later = [&] {
                             const std::uint64_t waited = longest_core_wait_ns(pid_);
                             const std::chrono::duration<double> starved =
                                 std::chrono::nanoseconds(waited - std::min(waited, waited_before));
                             return after(std::min<std::chrono::duration<double>>(
                                 timeout + starved, timeout * kPatience));
                           }};
  return receive_message(socket_.number(), message, limit, stop, &outbox_);
}

Timing WorkerProcess::bury(ReceiveStatus last, std::chrono::duration<double> timeout) {
  AOE_CHECK(pid_ > 0 && last != ReceiveStatus::kMessage, "the worker lives");
  if (last != ReceiveStatus::kClosed) ::kill(pid_, SIGKILL);
  int status = 0;
  wait_for(pid_, status);
  pid_ = -1;
  if (last == ReceiveStatus::kStopped)
    return Timing::failure(Outcome::kStopped, "tuning was stopped");
  if (last == ReceiveStatus::kGarbled)
    return Timing::failure(Outcome::kCrashed, "the worker's answer is no message");
  if (last == ReceiveStatus::kTimeout)
    return Timing::failure(Outcome::kTimeout,
                           fmt::format("no result after {:.3g} s", timeout.count()));
  const std::string words = last_words();
  const std::string said = words.empty() ? "" : ": " + words;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return Timing::failure(
        Outcome::kKilled,
        "killed from outside (SIGKILL: by the system when memory is short, or by hand)");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return Timing::failure(Outcome::kKilled,
                           "killed from outside (SIGXCPU: ulimit -t allows no more)");
  if (WIFSIGNALED(status))
    return Timing::failure(Outcome::kCrashed,
                           fmt::format("{}{}", ::strsignal(WTERMSIG(status)), said));
  return Timing::failure(Outcome::kCrashed,
                         fmt::format("worker ended with code {}{}", WEXITSTATUS(status), said));
}

std::string WorkerProcess::last_words() const {
  constexpr off_t kMostBytes = 400;
  const off_t size = ::lseek(stderr_.number(), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - kMostBytes);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - begin)), '\0');
  const ssize_t got = ::pread(stderr_.number(), text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace aoe::tuner
