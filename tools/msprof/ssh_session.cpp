// libssh: connection, host key, authentication, channels, SFTP.
#include "tools/msprof/ssh_session.h"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <libssh/sftp.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <vector>

#include "base/error.h"

namespace aoe::tools {
namespace fs = std::filesystem;
namespace {

constexpr long kAnswerSeconds = 60;  // to connect and to sign in; a busy board takes its time

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
void close_session(ssh_session session) {
  ssh_disconnect(session);
  ssh_free(session);
}
using Session = std::unique_ptr<ssh_session_struct, Freed<close_session>>;
using Channel = std::unique_ptr<ssh_channel_struct, Freed<ssh_channel_free>>;
using Key = std::unique_ptr<ssh_key_struct, Freed<ssh_key_free>>;
using Sftp = std::unique_ptr<sftp_session_struct, Freed<sftp_free>>;
using RemoteFile = std::unique_ptr<sftp_file_struct, Freed<sftp_close>>;
using RemoteDirectory = std::unique_ptr<sftp_dir_struct, Freed<sftp_closedir>>;
using Attributes = std::unique_ptr<sftp_attributes_struct, Freed<sftp_attributes_free>>;

void set_option(ssh_session session, ssh_options_e option, const void* value) {
  if (ssh_options_set(session, option, value) != SSH_OK)
    throw Error(ExitCode::kUsage, std::string("is refused: ") + ssh_get_error(session),
                "[ssh_config]");
}

/// A board that is not known could be anybody, and would get the program and the password.
void check_host(ssh_session session, const std::string& where) {
  switch (ssh_session_is_known_server(session)) {
    case SSH_KNOWN_HOSTS_OK:
      return;
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      throw Error(ExitCode::kFailure, "the host's key is not the one in known_hosts", where,
                  "if the board was set up anew, remove its line there: ssh-keygen -R");
    case SSH_KNOWN_HOSTS_UNKNOWN:
    case SSH_KNOWN_HOSTS_NOT_FOUND:
      throw Error(ExitCode::kFailure, "the host's key is not in known_hosts", where,
                  "check it and add it: ssh-keyscan, or sign in once by ssh");
    case SSH_KNOWN_HOSTS_ERROR:
      break;
  }
  throw Error(ExitCode::kFailure,
              std::string("the host's key cannot be checked: ") + ssh_get_error(session), where);
}

/// Whether it lets us in. Throws Error where it says neither yes nor no. `ask` may be called again and again: a call that waits
/// by itself does not notice that the other side has hung up.
bool lets_in(ssh_session session, const std::string& where, const std::function<int()>& ask) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(kAnswerSeconds);
  ssh_set_blocking(session, 0);
  int answer = ask();
  while (answer == SSH_AUTH_AGAIN && ssh_is_connected(session) && Clock::now() < end) {
    pollfd socket{ssh_get_fd(session), POLLIN, 0};
    ::poll(&socket, 1, 100);
    answer = ask();
  }
  ssh_set_blocking(session, 1);
  if (answer == SSH_AUTH_ERROR || !ssh_is_connected(session))
    throw Error(ExitCode::kFailure,
                std::string("the sign-in was broken off: ") + ssh_get_error(session), where);
  if (answer == SSH_AUTH_AGAIN)
    throw Error(ExitCode::kFailure,
                "does not answer within " + std::to_string(kAnswerSeconds) + " s", where);
  return answer == SSH_AUTH_SUCCESS;
}

Key key_in(const std::string& file) {
  ssh_key read = nullptr;
  if (ssh_pki_import_privkey_file(file.c_str(), nullptr, nullptr, nullptr, &read) != SSH_OK)
    throw Error(ExitCode::kUsage, "is no private key that can be read without a passphrase", file);
  return Key(read);
}

bool lets_in_by_key(ssh_session session, const SshConfig& config, const std::string& where) {
  if (config.key_file.empty())
    return lets_in(session, where,
                   [&] { return ssh_userauth_publickey_auto(session, nullptr, nullptr); });
  const Key key = key_in(config.key_file);
  return lets_in(session, where,
                 [&] { return ssh_userauth_publickey(session, nullptr, key.get()); });
}

void sign_in(ssh_session session, const SshConfig& config, const std::string& where) {
  if (lets_in(session, where, [&] { return ssh_userauth_none(session, nullptr); })) return;
  if (lets_in_by_key(session, config, where)) return;
  if (!config.pwd.empty() && lets_in(session, where, [&] {
        return ssh_userauth_password(session, nullptr, config.pwd.c_str());
      }))
    return;
  throw Error(
      ExitCode::kFailure,
      config.pwd.empty() ? "no key was accepted" : "neither a key nor the password was accepted",
      where, "put your public key into the board's authorized_keys");
}

/// Hands on what has come on one of the two streams. False when there was nothing.
bool pump(ssh_channel channel, bool is_stderr,
          const std::function<void(std::string_view)>& on_output) {
  std::array<char, 1 << 14> buffer;
  const int size = ssh_channel_read_nonblocking(channel, buffer.data(), buffer.size(), is_stderr);
  if (size <= 0) return false;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  if (is_stderr)
    std::cerr << text << std::flush;
  else
    on_output(text);
  return true;
}

}  // namespace

struct SshSession::State {
  Session session{ssh_new()};
  Sftp sftp;
  std::string where;  ///< "user@host", for errors

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::kFailure, what + ": " + ssh_get_error(session.get()), where);
  }
  sftp_session files() {
    if (!sftp) {
      sftp.reset(sftp_new(session.get()));
      if (!sftp || sftp_init(sftp.get()) != SSH_OK) fail("SFTP does not begin");
    }
    return sftp.get();
  }
  void upload_file(const fs::path& local, const std::string& remote);
  void download_file(const std::string& remote, const fs::path& local, std::uint32_t mode);
  void write(sftp_file file, std::string_view bytes, const std::string& remote) const;
  RemoteFile create(const std::string& remote, unsigned mode);
};

SshSession::SshSession(const SshConfig& config) : state_(std::make_unique<State>()) {
  ssh_session session = state_->session.get();
  if (session == nullptr) throw std::bad_alloc();
  state_->where = config.username + "@" + config.ip + ":" + std::to_string(config.port);
  const unsigned port = static_cast<unsigned>(config.port);
  set_option(session, SSH_OPTIONS_HOST, config.ip.c_str());
  set_option(session, SSH_OPTIONS_PORT, &port);
  set_option(session, SSH_OPTIONS_USER, config.username.c_str());
  set_option(session, SSH_OPTIONS_TIMEOUT, &kAnswerSeconds);
  if (!config.known_hosts.empty()) {
    set_option(session, SSH_OPTIONS_KNOWNHOSTS, config.known_hosts.c_str());
    set_option(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, config.known_hosts.c_str());
  }
  if (ssh_connect(session) != SSH_OK) state_->fail("cannot be connected to");
  check_host(session, state_->where);
  sign_in(session, config, state_->where);
}

SshSession::~SshSession() = default;

std::optional<int> SshSession::run(const std::string& command,
                                   const std::function<void(std::string_view)>& on_output,
                                   const std::stop_token& stop) {
  const Channel channel(ssh_channel_new(state_->session.get()));
  if (!channel || ssh_channel_open_session(channel.get()) != SSH_OK ||
      ssh_channel_request_exec(channel.get(), command.c_str()) != SSH_OK)
    state_->fail("no command can be run");
  while (true) {
    const bool had_output = pump(channel.get(), false, on_output);
    const bool had_errors = pump(channel.get(), true, on_output);
    if (had_output || had_errors) continue;
    if (ssh_channel_is_eof(channel.get())) break;
    if (stop.stop_requested()) return std::nullopt;
    // Waits for either stream; the time is only how long a broken connection, or a stop, goes unnoticed.
    constexpr int kMilliseconds = 100;
    if (ssh_channel_poll_timeout(channel.get(), kMilliseconds, 0) == SSH_ERROR)
      state_->fail("the connection broke");
  }
  // Comes after the end of the output, if at all: a command that a signal ended has none.
  while (ssh_channel_get_exit_status(channel.get()) == -1 && !ssh_channel_is_closed(channel.get()))
    if (ssh_channel_poll_timeout(channel.get(), 100, 0) == SSH_ERROR) break;
  return ssh_channel_get_exit_status(channel.get());
}

std::string SshSession::output_of(const std::string& command) {
  std::string text;
  const int status = run(command, [&](std::string_view more) { text += more; }).value_or(-1);
  if (status != 0)
    throw Error(ExitCode::kFailure,
                "'" + command + "' ended with exit status " + std::to_string(status),
                state_->where);
  return text;
}

void SshSession::State::write(sftp_file file, std::string_view bytes,
                              const std::string& remote) const {
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), 1 << 15);
    const ssize_t written = sftp_write(file, bytes.data(), part);
    if (written <= 0) fail(remote + " cannot be written there");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

RemoteFile SshSession::State::create(const std::string& remote, unsigned mode) {
  RemoteFile file(sftp_open(files(), remote.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode));
  if (!file) fail(remote + " cannot be written there");
  return file;
}

void SshSession::State::upload_file(const fs::path& local, const std::string& remote) {
  std::ifstream in(local, std::ios::binary);
  if (!in) throw Error(ExitCode::kData, "cannot be read", local.string());
  const auto mode = static_cast<unsigned>(fs::status(local).permissions()) & 0777;
  const RemoteFile file = create(remote, mode);
  std::vector<char> buffer(1 << 18);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
    write(file.get(), {buffer.data(), static_cast<std::size_t>(in.gcount())}, remote);
}

void SshSession::State::download_file(const std::string& remote, const fs::path& local,
                                      std::uint32_t mode) {
  const RemoteFile file(sftp_open(files(), remote.c_str(), O_RDONLY, 0));
  if (!file) fail(remote + " cannot be read there");
  std::ofstream out(local, std::ios::binary);
  std::vector<char> buffer(1 << 15);
  ssize_t size = 0;
  while ((size = sftp_read(file.get(), buffer.data(), buffer.size())) > 0)
    out.write(buffer.data(), size);
  if (size < 0) fail(remote + " cannot be read there");
  out.close();
  if (!out) throw Error(ExitCode::kOutput, "cannot be written", local.string());
  fs::permissions(local, static_cast<fs::perms>(mode & 0777));
}

void SshSession::write_file(const std::string& remote, std::string_view bytes) {
  const RemoteFile file = state_->create(remote, 0600);
  state_->write(file.get(), bytes, remote);
}

void SshSession::upload(const fs::path& local, const std::string& remote,
                        const std::function<bool(const fs::path&)>& is_wanted) {
  for (const fs::directory_entry& entry : fs::directory_iterator(local)) {
    if (!is_wanted(entry.path())) continue;
    const std::string target = remote + "/" + entry.path().filename().string();
    if (entry.is_regular_file()) {
      state_->upload_file(entry.path(), target);
    } else if (entry.is_directory()) {
      if (sftp_mkdir(state_->files(), target.c_str(), 0755) != SSH_OK)
        state_->fail(target + " cannot be made there");
      upload(entry.path(), target, is_wanted);
    }
  }
}

void SshSession::download(const std::string& remote, const fs::path& local) {
  std::error_code status;
  fs::create_directories(local, status);
  if (status) throw Error(ExitCode::kOutput, "cannot be made: " + status.message(), local.string());
  const RemoteDirectory directory(sftp_opendir(state_->files(), remote.c_str()));
  if (!directory) state_->fail(remote + " cannot be read there");
  while (const Attributes entry{sftp_readdir(state_->files(), directory.get())}) {
    const std::string name = entry->name;
    if (name == "." || name == ".." || name.find('/') != std::string::npos) continue;
    if (entry->type == SSH_FILEXFER_TYPE_DIRECTORY)
      download(remote + "/" + name, local / name);
    else if (entry->type == SSH_FILEXFER_TYPE_REGULAR)
      state_->download_file(remote + "/" + name, local / name, entry->permissions);
  }
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace aoe::tools
