// fork, and JSON through a pipe.
#include "tools/aoe_compare/own_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/system_calls.h"
#include "base/thread_lack.h"

namespace aoe::tools {
namespace {
using nlohmann::json;

[[noreturn]] void fail(const std::string& action) {
  throw Error(ExitCode::kFailure, action + ": " + std::strerror(errno), "a process for a load");
}

json outcome_of(const std::function<json()>& work) {
  try {
    return {{"answer", work()}};
  } catch (const Error& e) {
    return {{"error", e.what()}, {"code", static_cast<int>(e.code())}};
  } catch (const std::exception& e) {
    return {{"error", text_of_exception(e)}, {"code", static_cast<int>(ExitCode::kFailure)}};
  }
}

/// In the child. Nothing of the parent is destroyed a second time.
[[noreturn]] void answer(const std::function<json()>& work, int fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string text = json_text(outcome_of(work), -1, BadUtf8::kReplaced);
  ::_exit(write_all(fd, text) ? 0 : 1);
}

/// Waits for it as well: its memory is free before another begins.
void check_end(pid_t child) {
  int status = 0;
  if (!wait_for(child, status)) fail("cannot be waited for");
  if (WIFSIGNALED(status))
    throw Error(ExitCode::kFailure, std::string("was ended by ") + ::strsignal(WTERMSIG(status)),
                "a process for a load");
}

}  // namespace

json in_own_process(const std::function<json()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("no pipe");
  const Descriptor from_child(ends[0]);
  Descriptor of_child(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) fail("cannot be started");
  if (child == 0) answer(work, of_child.number());
  of_child.reset();
  std::string text;
  if (!append_all(from_child.number(), text)) fail("no answer");
  check_end(child);
  const json outcome = json_or_discarded(text);
  if (outcome.is_discarded())
    throw Error(ExitCode::kFailure, "gave no answer", "a process for a load");
  if (outcome.contains("error"))
    throw Error(static_cast<ExitCode>(outcome["code"].get<int>()),
                outcome["error"].get<std::string>());
  return outcome.at("answer");
}

}  // namespace aoe::tools
