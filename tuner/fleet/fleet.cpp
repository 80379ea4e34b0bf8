// Waiting, and what ends it.
#include "tuner/fleet/fleet.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "compiler/soc_json.h"

namespace aoe::tuner {
namespace fs = std::filesystem;
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr double kAskLauncherSeconds = 1;

}  // namespace

Fleet::Fleet(Spool spool, std::unique_ptr<Launcher> launcher, DispatchPolicy policy)
    : dispatcher_(std::move(spool), policy), launcher_(std::move(launcher)) {
  launcher_->start(dispatcher_.spool());
}

Fleet::~Fleet() {
  const Spool& spool = dispatcher_.spool();
  try {
    write_message(spool.end(), nlohmann::json::object());
  } catch (const Error& e) {
    logger("fleet")->warn("{}; nodes end when they miss the coordinator", e.what());
  }
  launcher_->stop();
  std::error_code ignored;  // END stays: a node that begins late ends at once
  fs::remove_all(spool.nodes(), ignored);
  fs::remove_all(spool.done(), ignored);
  fs::remove_all(spool.lessons(), ignored);
}

void Fleet::publish_lessons(const std::string& soc_version, std::size_t count,
                            const std::function<nlohmann::json()>& message) {
  std::size_t& published = lessons_[soc_version];
  if (count == 0 || count < 2 * published) return;
  write_message(dispatcher_.spool().lessons(soc_version), message());
  published = count;
}

std::vector<compiler::Soc> Fleet::wait_for_kinds(double settle_s, const std::stop_token& stop) {
  Deadline settled;
  const auto is_settled = [&] {
    if (dispatcher_.living() == 0) return false;
    if (!settled.is_set()) settled = Deadline::in(settle_s);
    return settled.has_passed() || dispatcher_.living() >= launcher_->wanted();
  };
  if (!wait_until(is_settled, stop)) return {};
  std::map<std::string, compiler::Soc> kinds;
  for (const auto& [name, node] : dispatcher_.nodes())
    if (node.state != Dispatcher::Node::State::kRefused && !kinds.contains(node.soc_version))
      kinds.emplace(node.soc_version, compiler::soc_from_json(node.about, "node " + name));
  std::vector<compiler::Soc> list;
  for (auto& [version, soc] : kinds) list.push_back(std::move(soc));
  return list;
}

bool Fleet::wait_until(const std::function<bool()>& is_true, const std::stop_token& stop,
                       const Deadline& deadline) {
  for (;;) {
    look();
    if (is_true()) return true;
    if (stop.stop_requested() || deadline.has_passed()) return false;
    unlock();
    std::this_thread::sleep_for(kPoll);
    lock();
  }
}

std::optional<Answer> Fleet::ask(Order order, const std::stop_token& stop,
                                 const Deadline& deadline) {
  const OrderId id = submit(std::move(order));
  std::optional<Answer> answer;
  if (wait_until([&] { return (answer = take(id)).has_value(); }, stop, deadline)) return answer;
  cancel(id);
  return std::nullopt;
}

void Fleet::look() {
  const TimePoint now = std::chrono::steady_clock::now();
  if (now - polled_at_ < kPoll / 2) return;  // many may wait
  polled_at_ = now;
  dispatcher_.poll();
  if (seconds_between(asked_launcher_at_, now) < kAskLauncherSeconds) return;
  asked_launcher_at_ = now;
  for (const EndedNode& node : launcher_->ended()) dispatcher_.lose(node.name, node.why);
  std::string what_happened;
  if (dispatcher_.living() == 0 && !launcher_->has_hope(what_happened))
    throw Error(ExitCode::kFailure, "no node is left: " + what_happened, "--workers",
                "what was won is in the bank, unconfirmed; --reload goes on");
}

std::size_t Fleet::living(const std::string& soc_version) const {
  using State = Dispatcher::Node::State;
  return static_cast<std::size_t>(
      std::ranges::count_if(dispatcher_.nodes(), [&](const auto& entry) {
        const auto& node = entry.second;
        return node.soc_version == soc_version &&
               (node.state == State::kIdle || node.state == State::kBusy);
      }));
}

// ---- lanes ----

bool Fleet::claim(const Place& place, const std::string& description) {
  return lanes_[place.soc_version].claimed.insert(description).second;
}

void Fleet::note_submitted(const Place& place) {
  lanes_[place.soc_version].submitted.insert(place.index);
}

void Fleet::note_ended(const Place& place) {
  note_submitted(place);
  lanes_[place.soc_version].ended.insert(place.index);
}

bool Fleet::has_all_before(const std::set<int>& done, int index) {
  return std::distance(done.begin(), done.lower_bound(index)) == index;
}

bool Fleet::earlier_have_submitted(const Place& place) const {
  const auto lane = lanes_.find(place.soc_version);
  return place.index == 0 ||
         (lane != lanes_.end() && has_all_before(lane->second.submitted, place.index));
}

bool Fleet::earlier_have_ended(const Place& place) const {
  const auto lane = lanes_.find(place.soc_version);
  return place.index == 0 ||
         (lane != lanes_.end() && has_all_before(lane->second.ended, place.index));
}

}  // namespace aoe::tuner
