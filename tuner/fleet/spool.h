// The spool: the directory by which a coordinator and its nodes speak, on a file system that all of them see.
//
//   FLEET                what speaks here, and its version; touched by the coordinator while it lives
//   END                  nodes end
//   nodes/NODE/about     who the node is; touched while it lives, gone when it ends in order
//   nodes/NODE/order     what it shall do now; the next one takes its place
//   done/NODE            the answer to that; the coordinator removes it
//   lessons/KIND         what the bank knows of nodes of that kind, for their searches (Fleet)
//   logs/                what launched nodes print
//
// Files appear whole, by rename. An order has an id, which its answer repeats: what was given to another node meanwhile is
// told from it. Nobody but the owner may write here: oms that nodes run lie beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace aoe::tuner {

struct Spool {
  std::filesystem::path directory;

  std::filesystem::path fleet() const { return directory / "FLEET"; }
  std::filesystem::path end() const { return directory / "END"; }
  std::filesystem::path nodes() const { return directory / "nodes"; }
  std::filesystem::path about(const std::string& node) const { return nodes() / node / "about"; }
  std::filesystem::path order(const std::string& node) const { return nodes() / node / "order"; }
  std::filesystem::path done() const { return directory / "done"; }
  std::filesystem::path lessons() const { return directory / "lessons"; }
  /// A soc_version may be anything: the file's name is its digest.
  std::filesystem::path lessons(const std::string& soc_version) const;
  std::filesystem::path logs() const { return directory / "logs"; }
};

/// Of the product and of what the messages mean: a coordinator and its nodes must agree.
std::string fleet_version();

/// Whether it can be the name of a node: letters, digits, '_', '-', the latter not in front, at most 200. Files that are not yet
/// whole have names with a '.'.
bool is_node_name(const std::string& name);

/// CBOR. Error(kOutput).
void write_message(const std::filesystem::path& path, const nlohmann::json& message);
/// An object; nullopt: there is none. Error(kFailure): too large, too deep, none of ours.
std::optional<nlohmann::json> read_message(const std::filesystem::path& path);

/// Tells one message under a name from the next. Each is a file of its own, so its inode counts: a time of change alone is as
/// coarse as the kernel's clock ticks.
struct MessageVersion {
  std::uint64_t inode = 0;
  std::int64_t written_at_ns = 0;
  bool operator==(const MessageVersion&) const = default;
};
/// nullopt: it is not there.
std::optional<MessageVersion> message_version(const std::filesystem::path& path);

/// When the file was touched last, in ns; nullopt: it is not there.
std::optional<std::int64_t> last_touch(const std::filesystem::path& path);
void touch(const std::filesystem::path& path);

}  // namespace aoe::tuner
