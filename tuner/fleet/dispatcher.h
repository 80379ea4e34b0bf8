// Dispatcher: which node does what. Orders go to idle nodes of their kind, a soc_version; answers come back; what a lost node
// had at hand is given to another one, and whatever the lost one still says of it is not heard.
//
// Knows files (spool.h) and a clock that tests set; nothing of what orders mean. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tuner/deadline.h"
#include "tuner/fleet/spool.h"

namespace aoe::tuner {

using OrderId = std::uint64_t;

struct Order {
  std::string soc_version;
  nlohmann::json message;
  bool is_urgent = false;  ///< before the others: somebody waits for it
  Deadline deadline =
      {};  ///< not begun behind it; what is left then goes with the order as "left_s"
};

struct Answer {
  enum class Kind { kDone, kExpired, kFailed };
  Kind kind = Kind::kDone;
  nlohmann::json message;  ///< of kDone
  std::string cause;       ///< of kFailed
  std::string node;
};

struct DispatchPolicy {
  double lost_after_s = 60;  ///< without a sign of life
  double look_s = 2;         ///< between two looks for new and lost nodes
  int tries = 3;             ///< of an order, by as many nodes
};

/// What has happened, for whoever reports it.
struct DispatchCounts {
  std::int64_t answers = 0, lost_nodes = 0, repeated = 0, stale = 0;
};

class Dispatcher {
 public:
  /// Makes the spool, for its owner alone. Error(kOutput).
  explicit Dispatcher(Spool spool, DispatchPolicy policy = {},
                      Now now = std::chrono::steady_clock::now);

  OrderId submit(Order order);
  /// Nobody waits for it any more.
  void cancel(OrderId id);
  /// One look: takes answers, notices nodes that came or were lost, gives out orders.
  void poll();
  /// Once.
  std::optional<Answer> take(OrderId id);
  /// Whoever started the node says that it has ended.
  void lose(const std::string& node, const std::string& why);

  struct Node {
    std::string soc_version;
    nlohmann::json about;
    enum class State { kIdle, kBusy, kLost, kRefused } state = State::kIdle;
    std::string assignment;  ///< what the order at hand is called
    std::optional<OrderId> order;
    bool owes_answer = false;  ///< to an order that may be another's by now
    std::int64_t touched = 0;
    TimePoint seen_at;
  };
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  std::size_t living() const;  ///< nodes that are neither lost nor refused
  const DispatchCounts& counts() const { return counts_; }
  const Spool& spool() const { return spool_; }

 private:
  struct Open {
    Order order;
    int tries = 0;
  };
  void take_answers();
  void take_answer(const std::string& name);
  void look_at_nodes();
  void greet(const std::string& name);
  void check(const std::string& name, Node& node);
  void give_back(Node& node, const std::string& why);
  void give_out();
  bool give(const std::string& name, Node& node, OrderId id);
  void enqueue(OrderId id, const Order& order, bool in_front);

  const Spool spool_;
  const DispatchPolicy policy_;
  const Now now_;
  std::map<std::string, Node> nodes_;
  std::map<OrderId, Open> open_;  ///< not answered
  std::map<OrderId, Answer> answers_;
  std::map<std::string, std::deque<OrderId>>
      queues_;  ///< by soc_version; what is cancelled is passed over
  std::map<std::string, std::deque<std::string>>
      idle_;  ///< by soc_version; who is not idle any more is passed over
  std::optional<TimePoint> looked_at_;
  OrderId last_id_ = 0;
  DispatchCounts counts_;
};

}  // namespace aoe::tuner
