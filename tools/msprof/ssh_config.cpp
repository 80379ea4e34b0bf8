// Reading the ini file, by Boost.Program_options.
#include "tools/msprof/ssh_config.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "tools/common/flags.h"

namespace aoe::tools {
namespace {

/// It may hold a password.
void require_private(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw Error(ExitCode::kUsage, std::string("cannot be read: ") + std::strerror(errno),
                path.string());
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw Error(ExitCode::kUsage, "others than its owner may use this file", path.string(),
                "chmod 600 " + path.string());
}

}  // namespace

SshConfig read_ssh_config(const std::filesystem::path& path) {
  require_private(path);
  SshConfig config;
  po::options_description keys;
  keys.add_options()("ssh_config.ip", po::value(&config.ip)->required());
  keys.add_options()("ssh_config.username", po::value(&config.username)->required());
  keys.add_options()("ssh_config.port", po::value(&config.port));
  keys.add_options()("ssh_config.pwd", po::value(&config.pwd));
  keys.add_options()("ssh_config.key_file", po::value(&config.key_file));
  keys.add_options()("ssh_config.known_hosts", po::value(&config.known_hosts));
  std::ifstream in(path);
  po::variables_map values;
  try {
    po::store(po::parse_config_file(in, keys), values);
    po::notify(values);
  } catch (const po::invalid_option_value&) {  // its text would quote the value
    throw Error(ExitCode::kUsage, "port is no number", path.string());
  } catch (const po::invalid_config_file_syntax&) {  // and so would this one
    throw Error(ExitCode::kUsage, "has a line that is neither [ssh_config] nor key=value",
                path.string());
  } catch (po::error& e) {
    throw Error(ExitCode::kUsage, text_of(e), path.string());
  }
  if (config.port < 1 || config.port > 65535)
    throw Error(ExitCode::kUsage, "port " + std::to_string(config.port) + " is out of range",
                path.string(), "use 1 to 65535");
  return config;
}

}  // namespace aoe::tools
