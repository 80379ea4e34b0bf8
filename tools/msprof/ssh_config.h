// The ini file of `msprof collect --config`: how to reach the board.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::tools {

/// Section [ssh_config]. Keys ip and username must be there.
struct SshConfig {
  std::string ip;
  std::string username;
  int port = 22;
  std::string pwd;          ///< empty: keys only; never printed
  std::string key_file;     ///< of a private key; empty: the agent's and ~/.ssh's
  std::string known_hosts;  ///< file of host keys; empty: ~/.ssh/known_hosts
};

/// Throws Error(kUsage): it cannot be read, others than its owner may read it, a key is missing or unknown.
SshConfig read_ssh_config(const std::filesystem::path& path);

}  // namespace aoe::tools
