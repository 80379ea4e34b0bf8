// SpreadSearch: the searches of one run on the nodes of a fleet: sent, waited for, and shared with the runs of other models.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "tuner/fleet/fleet.h"
#include "tuner/session/conclusion.h"
#include "tuner/tasks/tunable.h"

namespace aoe::tuner {

class SpreadSearch {
 public:
  /// The fleet stays with the caller, who holds its turn.
  SpreadSearch(Fleet& fleet, Fleet::Place place, std::stop_token stop)
      : fleet_(fleet), place_(std::move(place)), stop_(std::move(stop)) {}
  ~SpreadSearch();
  SpreadSearch(const SpreadSearch&) = delete;
  SpreadSearch& operator=(const SpreadSearch&) = delete;

  struct Sent {
    const Tunable* tunable = nullptr;
    std::optional<bank::StrategySet> known;
  };
  struct Answered : Sent {
    bool is_expired = false;  ///< its time was up before a node took it
    Conclusion
        conclusion;  ///< with its race records; kFailed when several nodes have failed with it
    std::vector<bank::Record> records;
    std::string node;
  };

  /// Until the runs before this one have sent their searches.
  void wait_for_turn();
  /// Whether it is an earlier run's, which the bank tells of when that has ended: see wait_for_shared().
  bool is_of_others(const Tunable& tunable);
  void send(const Tunable& tunable, std::optional<bank::StrategySet> known, nlohmann::json order,
            const Deadline& deadline);
  void note_submitted() { fleet_.note_submitted(place_); }

  /// All that have come, one at least; none: nothing is awaited, the run was stopped, or the time is up.
  std::vector<Answered> wait(const Deadline& limit);
  /// What was not answered, and will not be heard any more.
  std::vector<Sent> give_up();
  /// What was of others, when they have ended; from now on nothing is.
  std::vector<const Tunable*> wait_for_shared(const Deadline& limit);

 private:
  struct Awaited : Sent {
    OrderId order = 0;
  };
  static Answered answered(const Awaited& awaited, const Answer& answer);

  Fleet& fleet_;
  const Fleet::Place place_;
  const std::stop_token stop_;
  bool has_shared_ = true;
  std::vector<Awaited> awaited_;
  std::vector<const Tunable*> shared_;
};

}  // namespace aoe::tuner
