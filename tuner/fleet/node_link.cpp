// Orders in, answers out.
#include "tuner/fleet/node_link.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"

namespace aoe::tuner {
using nlohmann::json;
namespace fs = std::filesystem;
namespace {

void check_spool(const Spool& spool) {
  const auto refuse = [&](const std::string& what, const char* advice = "") {
    return Error(ExitCode::kUsage, what, spool.directory.string(), advice);
  };
  struct stat status {};
  if (::stat(spool.directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw refuse("there is no such spool", "it must lie on a file system that all nodes see");
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw refuse("others could write orders here", "a spool is its owner's alone: mode 700");
  const auto fleet = read_message(spool.fleet());
  if (!fleet) throw refuse("is no spool");
  const auto version = fleet->find("version");
  if (version == fleet->end() || *version != fleet_version())
    throw refuse("the coordinator is of another version; this is " + fleet_version(),
                 "install the same on all nodes");
}

}  // namespace

NodeLink::NodeLink(Spool spool, std::string name, json about)
    : spool_(std::move(spool)), name_(std::move(name)) {
  check_spool(spool_);
  if (!is_node_name(name_)) throw Error(ExitCode::kUsage, "cannot be a node's name", name_);
  std::error_code status;
  if (!fs::create_directory(spool_.nodes() / name_, status))
    throw Error(ExitCode::kUsage,
                status ? "cannot be made: " + status.message() : "a node is called so already",
                (spool_.nodes() / name_).string());
  about["version"] = fleet_version();
  write_message(spool_.about(name_), about);
}

NodeLink::~NodeLink() {
  std::error_code ignored;
  fs::remove(spool_.about(name_), ignored);
}

bool NodeLink::has_ended() const {
  return last_touch(spool_.end()).has_value() || !last_touch(spool_.fleet());
}

std::optional<json> NodeLink::next_order() {
  const auto version = message_version(spool_.order(name_));
  if (!version || version == order_version_) return std::nullopt;
  order_version_ = version;
  std::optional<json> message;
  try {
    message = read_message(spool_.order(name_));
  } catch (const Error& e) {
    // Its id is not known: the coordinator gives what it had given to somebody else, and a new one here.
    std::error_code ignored;
    fs::remove(spool_.order(name_), ignored);
    send({{"error", e.what()}});
    return std::nullopt;
  }
  if (!message) return std::nullopt;
  const auto id = message->find("order");
  if (id == message->end() || !id->is_string() || *id == order_) return std::nullopt;
  order_ = *id;
  return message;
}

void NodeLink::answer(json message) {
  send({{"order", order_}, {"answer", std::move(message)}});
}

void NodeLink::fail(const std::string& error) {
  send({{"order", order_}, {"error", error}});
}

void NodeLink::send(json message) {
  write_message(spool_.done() / name_, message);
}

}  // namespace aoe::tuner
