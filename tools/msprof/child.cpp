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

#include "base/error.h"

namespace aoe::tools {
namespace {

std::atomic<pid_t> child_pid = 0;

void hand_on(int signal) {
  if (const pid_t pid = child_pid; pid > 0) ::kill(pid, signal);
}
void do_nothing(int) {
}

/// Sets a handler while it lives. No SA_RESTART is needed: waiting is repeated after an interruption.
class SignalHandler {
 public:
  SignalHandler(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = handler;
    ::sigaction(signal, &action, &before_);
  }
  ~SignalHandler() { ::sigaction(signal_, &before_, nullptr); }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

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

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
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
  int report[2];  // closed by exec: nothing comes when all went well
  if (::pipe2(report, O_CLOEXEC) != 0)
    throw Error(ExitCode::kFailure, std::string("no pipe: ") + std::strerror(errno));

  const SignalHandler on_terminate(SIGTERM, hand_on);
  const SignalHandler on_interrupt(SIGINT, do_nothing);  // unlike SIG_IGN, reset by exec
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments, environment, report[1]);
  child_pid = pid;
  ::close(report[1]);
  int cause = pid < 0 ? errno : 0;
  while (pid > 0 && ::read(report[0], &cause, sizeof cause) < 0 && errno == EINTR) {
  }
  ::close(report[0]);
  const int status = pid > 0 ? wait_for(pid) : 0;
  child_pid = 0;
  if (cause != 0)
    throw Error(ExitCode::kUsage, std::string("cannot be run: ") + std::strerror(cause),
                command.front(), cause == ENOENT ? advice : std::string());
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace aoe::tools
