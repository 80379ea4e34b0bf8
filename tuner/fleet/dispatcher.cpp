// Orders out, answers in.
#include "tuner/fleet/dispatcher.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace aoe::tuner {
using nlohmann::json;
namespace fs = std::filesystem;
namespace {

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(directory, status))
    if (std::string name = entry.path().filename().string(); is_node_name(name))
      names.push_back(std::move(name));
  return names;
}

/// What does not fit the schema is an answer that is none.
std::string text_at(const json& message, const char* key) {
  const auto found = message.find(key);
  return found != message.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Dispatcher::Dispatcher(Spool spool, DispatchPolicy policy, Now now)
    : spool_(std::move(spool)), policy_(policy), now_(std::move(now)) {
  std::error_code status;
  for (const fs::path& directory : {spool_.nodes(), spool_.done(), spool_.lessons(), spool_.logs()})
    if (!status) fs::create_directories(directory, status);
  if (!status) fs::permissions(spool_.directory, fs::perms::owner_all, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be created: " + status.message(),
                spool_.directory.string(), "set ASCEND_WORK_PATH to a writable place");
  write_message(spool_.fleet(), {{"version", fleet_version()}});
}

OrderId Dispatcher::submit(Order order) {
  const OrderId id = ++last_id_;
  enqueue(id, order, order.is_urgent);
  open_.emplace(id, Open{std::move(order)});
  return id;
}

void Dispatcher::enqueue(OrderId id, const Order& order, bool in_front) {
  std::deque<OrderId>& queue = queues_[order.soc_version];
  in_front ? queue.push_front(id) : queue.push_back(id);
}

void Dispatcher::cancel(OrderId id) {
  open_.erase(id);
  answers_.erase(id);
}

std::optional<Answer> Dispatcher::take(OrderId id) {
  const auto found = answers_.extract(id);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

void Dispatcher::poll() {
  take_answers();
  look_at_nodes();
  give_out();
}

std::size_t Dispatcher::living() const {
  return static_cast<std::size_t>(std::ranges::count_if(nodes_, [](const auto& entry) {
    return entry.second.state == Node::State::kIdle || entry.second.state == Node::State::kBusy;
  }));
}

// ---- answers ----

void Dispatcher::take_answers() {
  for (const std::string& name : names_in(spool_.done())) take_answer(name);
}

void Dispatcher::take_answer(const std::string& name) {
  const fs::path path = spool_.done() / name;
  std::optional<json> message;
  std::string why_not = "its answer is none";
  try {
    message = read_message(path);
  } catch (const Error& e) {
    why_not = e.what();
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.state == Node::State::kRefused) return;
  Node& node = found->second;
  const std::string about = message ? text_at(*message, "order") : "";  // empty: it could not tell
  const bool is_current = node.order && about == node.assignment;
  if (!is_current && !about.empty()) ++counts_.stale;
  if (is_current && message->contains("answer")) {
    ++counts_.answers;
    if (open_.erase(*node.order) > 0)
      answers_[*node.order] = {
          .message = std::move(message->at("answer")), .cause = {}, .node = name};
  } else if (node.order && (is_current || about.empty())) {
    give_back(node, message ? text_at(*message, "error") : why_not);
  } else if (node.order) {
    return;  // of an order before the one at hand
  }
  node.order.reset();
  node.owes_answer = false;
  node.state = Node::State::kIdle;
  node.seen_at = now_();
  idle_[node.soc_version].push_back(name);
}

/// The order at hand, to another node, or to nobody when several have failed with it.
void Dispatcher::give_back(Node& node, const std::string& why) {
  if (!node.order) return;
  const OrderId id = *std::exchange(node.order, std::nullopt);
  const auto open = open_.find(id);
  if (open == open_.end()) return;
  if (open->second.tries >= policy_.tries) {
    open_.erase(open);
    answers_[id] = {.kind = Answer::Kind::kFailed, .message = {}, .cause = why, .node = {}};
    return;
  }
  ++counts_.repeated;
  enqueue(id, open->second.order, true);
}

// ---- nodes ----

void Dispatcher::look_at_nodes() {
  const TimePoint now = now_();
  if (looked_at_ && seconds_between(*looked_at_, now) < policy_.look_s) return;
  looked_at_ = now;
  touch(spool_.fleet());
  for (const std::string& name : names_in(spool_.nodes()))
    if (!nodes_.contains(name)) greet(name);
  for (auto& [name, node] : nodes_) check(name, node);
}

void Dispatcher::greet(const std::string& name) {
  const auto touched = last_touch(spool_.about(name));
  if (!touched) return;  // it is about to come
  Node node{.touched = *touched, .seen_at = now_()};
  std::string why_not;
  try {
    node.about = read_message(spool_.about(name)).value_or(json::object());
    node.soc_version = text_at(node.about, "soc_version");
    if (const std::string version = text_at(node.about, "version"); version != fleet_version())
      why_not = "is of version " + version + ", and this is " + fleet_version();
    else if (node.soc_version.empty())
      why_not = "does not say what it is";
  } catch (const Error& e) {
    why_not = e.what();
  }
  if (!why_not.empty()) {
    node.state = Node::State::kRefused;
    logger("fleet")->warn("node {} {}; it gets no work", name, why_not);
  } else {
    logger("fleet")->info("node {} has come: {}", name, node.soc_version);
    idle_[node.soc_version].push_back(name);
  }
  nodes_.emplace(name, std::move(node));
}

void Dispatcher::check(const std::string& name, Node& node) {
  if (node.state == Node::State::kRefused) return;
  const auto touched = last_touch(spool_.about(name));
  if (touched && *touched != node.touched) {
    node.touched = *touched;
    node.seen_at = now_();
    // Back from wherever it was: what it had at hand is another's, and it says so when it is through.
    if (node.state == Node::State::kLost) {
      node.state = node.owes_answer ? Node::State::kBusy : Node::State::kIdle;
      if (!node.owes_answer) idle_[node.soc_version].push_back(name);
      logger("fleet")->info("node {} is back", name);
    }
    return;
  }
  if (node.state == Node::State::kLost) return;
  const double silent_s = seconds_between(node.seen_at, now_());
  if (!touched)
    lose(name, "it has ended");
  else if (silent_s > policy_.lost_after_s)
    lose(name, "no sign of life for " + std::to_string(static_cast<int>(silent_s)) + " s");
}

void Dispatcher::lose(const std::string& name, const std::string& why) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return;
  Node& node = found->second;
  if (node.state != Node::State::kIdle && node.state != Node::State::kBusy) return;
  ++counts_.lost_nodes;
  logger("fleet")->warn("node {} is lost: {}{}", name, why,
                        node.order ? "; what it had at hand is measured elsewhere" : "");
  node.state = Node::State::kLost;
  give_back(node, "node " + name + " was lost: " + why);
}

// ---- orders ----

void Dispatcher::give_out() {
  for (auto& [soc_version, queue] : queues_) {
    std::deque<std::string>& idle = idle_[soc_version];
    while (!queue.empty() && !idle.empty()) {
      const auto open = open_.find(queue.front());
      if (open == open_.end()) {
        queue.pop_front();
        continue;
      }
      if (open->second.order.deadline.has_passed()) {
        answers_[open->first] = {
            .kind = Answer::Kind::kExpired, .message = {}, .cause = {}, .node = {}};
        open_.erase(open);
        queue.pop_front();
        continue;
      }
      Node& node = nodes_.at(idle.front());
      if (node.state == Node::State::kIdle && give(idle.front(), node, queue.front()))
        queue.pop_front();
      idle.pop_front();
    }
  }
}

bool Dispatcher::give(const std::string& name, Node& node, OrderId id) {
  Open& open = open_.at(id);
  node.assignment = std::to_string(id) + "-" + std::to_string(++open.tries);
  json message = open.order.message;
  message["order"] = node.assignment;
  if (open.order.deadline.is_set()) message["left_s"] = open.order.deadline.left_s();
  try {
    write_message(spool_.order(name), message);
  } catch (const Error& e) {  // its directory is gone
    --open.tries;
    lose(name, e.what());
    return false;
  }
  node.state = Node::State::kBusy;
  node.order = id;
  node.owes_answer = true;
  return true;
}

}  // namespace aoe::tuner
