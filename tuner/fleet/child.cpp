// posix_spawn and waitpid.
#include "tuner/fleet/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/system_calls.h"

extern char** environ;

namespace aoe::tuner {
namespace {

/// A logged line of a program that went on behind it.
bool is_news(std::string_view line) {
  return line.starts_with('[') &&
         (line.find("] [warning] [") != line.npos || line.find("] [info] [") != line.npos);
}

/// The last line that may say why a program ended.
std::string last_words(const std::filesystem::path& log) {
  constexpr std::size_t kMost = 300;
  std::string text;
  try {
    text = read_file(log, ExitCode::kFailure);
  } catch (const Error&) {
    return {};  // it has said nothing
  }
  std::string words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !is_news(line)) words = line;
  }
  return words.substr(0, kMost);
}

}  // namespace

Child::Child(const std::vector<std::string>& words, std::filesystem::path log)
    : log_(std::move(log)) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log_.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is for us
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error = ::posix_spawnp(&pid_, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw Error(ExitCode::kFailure, std::string("cannot be started: ") + std::strerror(error),
                words.front(), "install it, or add it to PATH");
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_), log_(std::move(other.log_)) {
}

Child::~Child() {
  if (pid_ <= 0 || status_) return;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  wait_for(pid_, status);
}

void Child::look() {
  if (status_) return;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
}

std::optional<std::string> Child::how_it_ended() {
  look();
  if (!status_) return std::nullopt;
  const std::string said = last_words(log_);
  const std::string how = WIFSIGNALED(*status_)
                              ? std::string(::strsignal(WTERMSIG(*status_)))
                              : "exit status " + std::to_string(WEXITSTATUS(*status_));
  return said.empty() ? how : how + ": " + said;
}

bool Child::has_succeeded() {
  look();
  return status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
}

std::string output_of(const std::vector<std::string>& words, const std::filesystem::path& log) {
  Child child(words, log);
  std::optional<std::string> end;
  while (!(end = child.how_it_ended())) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (!child.has_succeeded()) throw Error(ExitCode::kFailure, *end, words.front());
  return read_file(log, ExitCode::kFailure);
}

}  // namespace aoe::tuner
