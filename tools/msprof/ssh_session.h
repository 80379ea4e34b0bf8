// SshSession: a connection to a board: run commands, copy directories there and back. The one place that knows libssh.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "tools/msprof/ssh_config.h"

namespace aoe::tools {

class SshSession {
 public:
  /// Connects, checks the host's key against known_hosts, and signs in: by keys first, by the password only when the config has
  /// one and no key is taken. Throws Error(kFailure).
  explicit SshSession(const SshConfig& config);
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  /// Runs a shell command there; what it prints goes to `on_output` (stdout) and stderr as it comes. Its exit status, -1 when a
  /// signal ended it; nullopt as soon as a stop is requested: the command may run on.
  std::optional<int> run(const std::string& command,
                         const std::function<void(std::string_view)>& on_output,
                         const std::stop_token& stop = {});
  /// The same, and stdout as a text. Throws Error(kFailure) unless the command succeeds.
  std::string output_of(const std::string& command);

  /// Copies the files and directories below `local` that are wanted to the directory `remote`, which must be there. Links are
  /// followed.
  void upload(const std::filesystem::path& local, const std::string& remote,
              const std::function<bool(const std::filesystem::path&)>& is_wanted);
  /// Copies the directory `remote` to `local`, which is made.
  void download(const std::string& remote, const std::filesystem::path& local);
  void write_file(const std::string& remote, std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One word for a POSIX shell, whatever the text holds.
std::string shell_quoted(const std::string& text);

}  // namespace aoe::tools
