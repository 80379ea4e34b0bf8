// Sending and waiting.
#include "tuner/session/spread_search.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "tuner/session/operator_order.h"

namespace aoe::tuner {

SpreadSearch::~SpreadSearch() {
  for (const Awaited& each : awaited_) fleet_.cancel(each.order);
}

void SpreadSearch::wait_for_turn() {
  fleet_.wait_until([this] { return fleet_.earlier_have_submitted(place_); }, stop_);
}

bool SpreadSearch::is_of_others(const Tunable& tunable) {
  if (!has_shared_ || fleet_.claim(place_, tunable.key.description)) return false;
  shared_.push_back(&tunable);
  return true;
}

void SpreadSearch::send(const Tunable& tunable, std::optional<bank::StrategySet> known,
                        nlohmann::json order, const Deadline& deadline) {
  Awaited awaited;
  awaited.tunable = &tunable;
  awaited.known = std::move(known);
  awaited.order = fleet_.submit(
      {.soc_version = place_.soc_version, .message = std::move(order), .deadline = deadline});
  awaited_.push_back(std::move(awaited));
}

std::vector<SpreadSearch::Answered> SpreadSearch::wait(const Deadline& limit) {
  std::vector<Answered> found;
  if (awaited_.empty()) return found;
  const auto take_all = [&] {
    std::erase_if(awaited_, [&](const Awaited& each) {
      const auto answer = fleet_.take(each.order);
      if (answer) found.push_back(answered(each, *answer));
      return answer.has_value();
    });
    return !found.empty();
  };
  fleet_.wait_until(take_all, stop_, limit);
  return found;
}

SpreadSearch::Answered SpreadSearch::answered(const Awaited& awaited, const Answer& answer) {
  Answered result;
  static_cast<Sent&>(result) = awaited;
  result.node = answer.node;
  result.is_expired = answer.kind == Answer::Kind::kExpired;
  if (result.is_expired) return result;
  std::string cause = answer.cause;
  try {
    if (answer.kind == Answer::Kind::kDone) {
      OperatorAnswer search = operator_answer(answer.message);
      result.conclusion = std::move(search.conclusion);
      result.records = std::move(search.records);
      return result;
    }
  } catch (const std::exception& e) {
    cause = "node " + answer.node + " has answered nonsense: " + e.what();
  }
  result.conclusion = {.decision = Decision::kFailed, .cause = cause};
  return result;
}

std::vector<SpreadSearch::Sent> SpreadSearch::give_up() {
  std::vector<Sent> list;
  for (Awaited& each : std::exchange(awaited_, {})) {
    fleet_.cancel(each.order);
    list.push_back(std::move(each));
  }
  return list;
}

std::vector<const Tunable*> SpreadSearch::wait_for_shared(const Deadline& limit) {
  has_shared_ = false;
  if (!shared_.empty())
    fleet_.wait_until([this] { return fleet_.earlier_have_ended(place_); }, stop_, limit);
  return std::exchange(shared_, {});
}

}  // namespace aoe::tuner
