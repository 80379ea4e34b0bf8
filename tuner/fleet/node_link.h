// NodeLink: a node's end of the spool. It says who the node is and that it lives, takes its orders and gives its answers.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tuner/fleet/spool.h"

namespace aoe::tuner {

class NodeLink {
 public:
  /// Error(kUsage): no spool, another's, of another version; no name, or one that is taken. `about` has soc_version and what else
  /// the coordinator may want to know.
  NodeLink(Spool spool, std::string name, nlohmann::json about);
  /// Says that the node has ended.
  ~NodeLink();
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  const std::string& name() const { return name_; }
  /// From any thread.
  void beat() const { touch(spool_.about(name_)); }
  /// From any thread. The coordinator says so, or the spool is gone.
  bool has_ended() const;

  /// The next one, once; nullopt: there is none yet. One that cannot be read is answered with why.
  std::optional<nlohmann::json> next_order();
  /// Exactly one of the two for each order.
  void answer(nlohmann::json message);
  void fail(const std::string& error);

 private:
  void send(nlohmann::json message);

  const Spool spool_;
  const std::string name_;
  std::string order_;  ///< at hand, or the last one
  std::optional<MessageVersion> order_version_;
};

}  // namespace aoe::tuner
