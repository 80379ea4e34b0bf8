// Sockets of AF_UNIX in the abstract namespace; messages keep their boundaries.
#include "profiler/collect/control_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/thread_wall.h"

namespace aoe::profiler {
namespace {

using nlohmann::json;

constexpr std::size_t kMostMessageBytes = 1 << 16;
/// Who connects and says nothing is given up after that.
constexpr std::chrono::milliseconds kPatienceWithClients{5000};

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};
Address address_of(int pid) {
  const std::string name = "aoe_profiler_" + std::to_string(pid);
  Address address;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path + 1, name.data(), name.size());  // a leading 0 means: no file
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Descriptor open_server() {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Address address = address_of(::getpid());
  if (!socket.is_open() ||
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address.name), address.size) !=
          0 ||
      ::listen(socket.number(), 1) != 0)
    throw Error(ExitCode::kFailure, std::strerror(errno), "socket for msprof");
  return socket;
}

bool send_json(int socket, const json& message) {
  const std::string text = json_text(message, -1, BadUtf8::kReplaced);
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

std::optional<json> receive_json(int socket) {
  std::string text(kMostMessageBytes, '\0');
  const ssize_t size = ::recv(socket, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(size));
  json message = json_or_discarded(text);
  if (!message.is_object()) return std::nullopt;
  return message;
}

/// For connecting, sending and receiving.
void set_patience(int socket, std::chrono::milliseconds patience) {
  const timeval time = {.tv_sec = patience.count() / 1000,
                        .tv_usec = patience.count() % 1000 * 1000};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

ucred peer_of(int connection) {
  ucred peer{.pid = -1, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
  socklen_t size = sizeof peer;
  ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer;
}

/// Whoever may end this process may also have it profiled.
bool is_trusted(const ucred& client) {
  return client.uid == ::geteuid() || client.uid == 0;
}

/// Names of sockets are anybody's to take: what answers must be the process that was meant, and of a user whose word this
/// one takes. root has any process profiled.
bool is_server(const ucred& server, int pid) {
  return server.pid == pid && (server.uid == ::geteuid() || server.uid == 0 || ::geteuid() == 0);
}

}  // namespace

ControlServer::ControlServer(std::function<json(const json&)> handler)
    : handler_(std::move(handler)),
      owner_pid_(::getpid()),
      socket_(open_server()),
      thread_(&ControlServer::serve, this) {
}

ControlServer::~ControlServer() {
  if (::getpid() !=
      owner_pid_) {  // a child process has no such thread: nothing to join or to detach
    [[maybe_unused]] static const auto* const kept = new std::thread(std::move(thread_));
    return;  // closes its copy: who asks the parent shall not wait for the child
  }
  ::shutdown(socket_.number(), SHUT_RDWR);  // accept() returns
  thread_.join();
}

void ControlServer::serve() {
  for (;;) {
    const Descriptor connection(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.is_open() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!connection.is_open()) return;
    if (!is_trusted(peer_of(connection.number()))) continue;
    behind_thread_wall([&] { answer(connection.number()); },
                       [](const char* why) {
                         logger("profiler")->error("a request of msprof is not answered: {}", why);
                       });
  }
}

void ControlServer::answer(int connection) {
  set_patience(connection, kPatienceWithClients);
  const std::optional<json> request = receive_json(connection);
  if (request) send_json(connection, handler_(*request));  // who went away needs no reply
}

std::optional<json> control_request(int pid, const json& request,
                                    std::chrono::milliseconds patience) {
  const Descriptor server(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!server.is_open()) throw Error(ExitCode::kFailure, std::strerror(errno), "socket");
  const int socket = server.number();
  set_patience(socket, patience);
  const Address address = address_of(pid);
  std::optional<json> reply;
  errno = 0;
  const bool is_connected =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address.name), address.size) == 0;
  const bool is_another = is_connected && !is_server(peer_of(socket), pid);
  if (is_connected && !is_another && send_json(socket, request)) reply = receive_json(socket);
  const bool is_late = !reply && !is_another && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (is_late)
    throw Error(ExitCode::kFailure,
                "does not answer within " + std::to_string(patience.count()) + " ms",
                "process " + std::to_string(pid), "see whether it is stopped: ps -o stat -p");
  if (is_another)
    throw Error(ExitCode::kFailure, "another process or user answers in its place",
                "process " + std::to_string(pid), "find out who listens: ss -xlp");
  return reply;
}

}  // namespace aoe::profiler
