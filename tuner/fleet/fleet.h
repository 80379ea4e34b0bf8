// Fleet: the coordinator's nodes, as the runs of several models share them.
//
// Runs of models are threads, of which one works at a time: whoever waits for nodes lets the others work (lock() and unlock(), for
// std::lock_guard). Each has a place in a lane, the runs of one soc_version in the order of the models, so that a task that
// several models have is searched for the first of them and known to the others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "compiler/soc.h"
#include "tuner/fleet/dispatcher.h"
#include "tuner/fleet/launcher.h"

namespace aoe::tuner {

class Fleet {
 public:
  /// Starts the nodes. Throws what the spool and the launcher throw.
  Fleet(Spool spool, std::unique_ptr<Launcher> launcher, DispatchPolicy policy = {});
  /// Ends the nodes and removes the spool but for its logs.
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  void lock() { turn_.lock(); }
  void unlock() { turn_.unlock(); }

  /// Kinds of nodes: when all have come, or `settle_s` after the first. Error(kFailure) when none came.
  std::vector<compiler::Soc> wait_for_kinds(double settle_s, const std::stop_token& stop);

  OrderId submit(Order order) { return dispatcher_.submit(std::move(order)); }
  void cancel(OrderId id) { dispatcher_.cancel(id); }
  std::optional<Answer> take(OrderId id) { return dispatcher_.take(id); }
  /// Lets others work until it is true. False: stopped, or the time is up. Error(kFailure): there is no node, and none will come.
  bool wait_until(const std::function<bool()>& is_true, const std::stop_token& stop,
                  const Deadline& deadline = {});
  /// An order and its answer; nullopt: stopped, or the time is up.
  std::optional<Answer> ask(Order order, const std::stop_token& stop, const Deadline& deadline);

  /// For nodes of a kind to learn from, `count` lessons: written where that is twice as much as was written before, since a
  /// thousand nodes read it. Error(kOutput).
  void publish_lessons(const std::string& soc_version, std::size_t count,
                       const std::function<nlohmann::json()>& message);

  std::size_t living(const std::string& soc_version) const;
  DispatchCounts counts() const { return dispatcher_.counts(); }

  // ---- lanes ----

  struct Place {
    std::string soc_version;
    int index = 0;
  };
  /// Whether the task was nobody's before.
  bool claim(const Place& place, const std::string& description);
  void note_submitted(const Place& place);
  void note_ended(const Place& place);  ///< submitted, too
  bool earlier_have_submitted(const Place& place) const;
  bool earlier_have_ended(const Place& place) const;

 private:
  struct Lane {
    std::set<std::string> claimed;
    std::set<int> submitted, ended;  ///< indices
  };
  static bool has_all_before(const std::set<int>& done, int index);
  void look();

  std::mutex turn_;
  Dispatcher dispatcher_;
  std::map<std::string, std::size_t> lessons_;  ///< published, by soc_version
  std::unique_ptr<Launcher> launcher_;
  std::map<std::string, Lane> lanes_;
  TimePoint polled_at_, asked_launcher_at_;
};

}  // namespace aoe::tuner
