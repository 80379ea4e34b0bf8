// The loop of a node, and its sign of life.
#include "tuner/session/serve.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "compiler/soc_json.h"
#include "runtime/host_soc.h"
#include "tuner/fleet/fleet_measurer.h"
#include "tuner/fleet/node_link.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/session/lessons_file.h"
#include "tuner/session/operator_order.h"

namespace aoe::tuner {
using nlohmann::json;
namespace {

/// A thousand idle nodes are not to keep a file server busy.
constexpr auto kShortestPoll = std::chrono::milliseconds(20),
               kLongestPoll = std::chrono::milliseconds(500);

std::string made_name() {
  char host[128] = {};
  ::gethostname(host, sizeof host - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::string name = "node-" + std::string(host) + "-" + std::to_string(::getpid()) + "-" +
                     std::to_string(std::chrono::nanoseconds(now).count());
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  return name;
}

json about(const compiler::Soc& soc) {
  char host[128] = {};
  ::gethostname(host, sizeof host - 1);
  json self = compiler::to_json(soc);
  self["host"] = host;
  self["pid"] = ::getpid();
  self["cpu"] = runtime::host_identity().cpu;
  return self;
}

class Node {
 public:
  explicit Node(const ServeOptions& options)
      : options_(options),
        link_(options.spool, options.node.empty() ? made_name() : options.node, about(options.soc)),
        lessons_(options.spool, options.soc.version),
        outer_stop_(options.stop, [this] { stop_.request_stop(); }),
        beat_([this](const std::stop_token& stop) { keep_beating(stop); }) {}

  void serve() {
    logger("fleet")->info("node {} serves {}", link_.name(), options_.spool.directory.string());
    auto pause = kShortestPoll;
    while (!stop_.stop_requested()) {
      if (const auto order = link_.next_order()) {
        carry_out(*order);
        pause = kShortestPoll;
      } else {
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kLongestPoll);
      }
    }
  }

 private:
  void carry_out(const json& order) {
    try {
      json answer = answer_to(order);
      if (!stop_.stop_requested()) link_.answer(std::move(answer));
    } catch (const std::exception& e) {
      logger("fleet")->warn("an order failed: {}", e.what());
      link_.fail(e.what());
    }
  }

  json answer_to(const json& order) {
    const auto measurer_of = [this](const MeasurePolicy& policy) -> Measurer& {
      return measurer_with(policy);
    };
    if (auto measured = measure_order(order, options_.soc, measurer_of)) return *measured;
    if (order.value("do", "") != "search") throw Error(ExitCode::kFailure, "an unknown order");
    const Policy policy = policy_from_json(order.at("policy"), "the order");
    learn();
    return run_operator_order(order, options_.soc, measurer_with(policy.measure), experience_,
                              stop_.get_token());
  }

  /// A node that cannot read the lessons searches without them.
  void learn() {
    try {
      if (const auto count = lessons_.learn(experience_))
        logger("fleet")->info("learnt {} lessons of the bank", *count);
    } catch (const std::exception& e) {
      logger("fleet")->warn("the bank's lessons are not used: {}", e.what());
    }
  }

  /// The worker process stays while the policy does.
  Measurer& measurer_with(const MeasurePolicy& policy) {
    std::string text = json_text(to_json(policy));
    if (!measurer_ || text != policy_text_)
      measurer_.emplace(WorkerOptions{.soc = options_.soc,
                                      .policy = policy,
                                      .compile_threads = options_.compile_threads,
                                      .stop = stop_.get_token(),
                                      .program = options_.worker});
    policy_text_ = std::move(text);
    return *measurer_;
  }

  /// Also while an order is carried out: what the coordinator ends, ends soon.
  void keep_beating(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any woken;
    auto coordinator = last_touch(options_.spool.fleet());
    auto heard_at = std::chrono::steady_clock::now();
    auto beaten_at = heard_at;
    constexpr auto kLook = std::chrono::milliseconds(500);
    while (!woken.wait_for(lock, stop, kLook, [&] { return stop.stop_requested(); })) {
      const auto now = std::chrono::steady_clock::now();
      if (const auto touched = last_touch(options_.spool.fleet()); touched != coordinator) {
        coordinator = touched;
        heard_at = now;
      }
      const bool is_orphaned =
          std::chrono::duration<double>(now - heard_at).count() > options_.orphaned_after_s;
      if (is_orphaned) logger("fleet")->warn("the coordinator gives no sign of life");
      if (is_orphaned || link_.has_ended()) {
        stop_.request_stop();
        return;
      }
      if (std::chrono::duration<double>(now - beaten_at).count() < options_.beat_s) continue;
      link_.beat();
      beaten_at = now;
    }
  }

  const ServeOptions& options_;
  NodeLink link_;
  LessonsReader lessons_;
  std::stop_source stop_;
  const std::stop_callback<std::function<void()>> outer_stop_;
  CostModel
      experience_;  ///< the bank's lessons, and all that this node has searched since it read them
  std::optional<WorkerMeasurer> measurer_;
  std::string policy_text_;
  std::jthread beat_;  ///< the last member: it uses the others
};

}  // namespace

void serve_tasks(const ServeOptions& options) {
  check_worker(options.worker);
  Node(options).serve();
}

}  // namespace aoe::tuner
