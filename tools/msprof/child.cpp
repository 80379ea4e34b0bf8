// fork, exec and wait, with the signals that meanwhile arrive.
#include "tools/msprof/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/system_calls.h"

namespace aoe::tools {
namespace {

std::atomic<pid_t> child_pid = 0;

void hand_on(int signal, siginfo_t* info, void*) {
  const bool is_of_terminal = info->si_code == SI_KERNEL;
  if (const pid_t pid = child_pid; pid > 0 && !is_of_terminal) ::kill(pid, signal);
}

/// Hands a signal on while it lives; exec sets it back for the program. What is ignored stays so, for both. No SA_RESTART is
/// needed: waiting is repeated after an interruption.
class HandedOn {
 public:
  explicit HandedOn(int signal) : signal_(signal) {
    ::sigaction(signal, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_sigaction = hand_on;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(signal, &action, nullptr);
  }
  ~HandedOn() { ::sigaction(signal_, &before_, nullptr); }
  HandedOn(const HandedOn&) = delete;
  HandedOn& operator=(const HandedOn&) = delete;

 private:
  int signal_;
  struct sigaction before_ {};
};

/// In the child: becomes the program, or tells the parent why not.
[[noreturn]] void become(std::vector<char*>& arguments,
                         const std::map<std::string, std::string>& environment, int report) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(arguments[0], arguments.data());
  const int cause = errno;
  const ssize_t told = ::write(report, &cause, sizeof cause);
  ::_exit(told == sizeof cause ? 127 : 126);
}

int status_of(pid_t pid) {
  int status = 0;
  if (!wait_for(pid, status))
    throw Error(ExitCode::kFailure, std::string("cannot be waited for: ") + std::strerror(errno),
                "pid " + std::to_string(pid));
  return status;
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command,
                   const std::map<std::string, std::string>& environment,
                   const std::string& advice) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];  // closed by exec: nothing comes when all went well
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ExitCode::kFailure, std::string("no pipe: ") + std::strerror(errno));
  const Descriptor report(ends[0]);
  Descriptor of_child(ends[1]);

  const HandedOn terminate(SIGTERM), interrupt(SIGINT), hangup(SIGHUP);
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments, environment, of_child.number());
  child_pid = pid;
  int cause = pid < 0 ? errno : 0;
  of_child.reset();
  while (pid > 0 && ::read(report.number(), &cause, sizeof cause) < 0 && errno == EINTR) {
  }
  const int status = pid > 0 ? status_of(pid) : 0;
  child_pid = 0;
  if (cause != 0)
    throw Error(pid < 0 ? ExitCode::kFailure : ExitCode::kUsage,
                std::string("cannot be run: ") + std::strerror(cause), command.front(),
                cause == ENOENT ? advice : std::string());
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace aoe::tools
