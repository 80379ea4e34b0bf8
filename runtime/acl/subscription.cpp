// The thread between the recorder and the subscribers' descriptors. Tested by tests/runtime/subscribe_test.cpp.
#include "runtime/acl/subscription.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/thread_wall.h"
#include "profiler/recorder.h"
#include "runtime/acl/prof_mode.h"
#include "runtime/acl/record_pipe.h"
#include "runtime/acl/wall.h"
#include "runtime/om/om_bodies.h"
#include "runtime/om/op_flops.h"
#include "runtime/threads/signals_blocked.h"

namespace aoe::runtime::acl {
namespace {

/// A ring holds 65536 events: more than what a thread records in this time.
constexpr int kPeriodMs = 10;

std::atomic<bool> is_on = false;

/// What a record says of an op, whatever the execution.
struct OpFacts {
  std::uint32_t name_id;
  std::uint32_t type_id;
  OpFlops flops;
};

std::vector<OpFacts> facts_of(const Model& model) {
  std::vector<OpFacts> facts;
  for (const Om* const om : model.executor.oms())
    for_each_om(*om, [&](const Om& own, const std::string& path) {
      for (const OmStep& step : own.steps)
        facts.push_back({profiler::intern(op_name(path, step)), profiler::intern(step.types_text()),
                         flops_of(own, step)});
    });
  return facts;
}

/// One task of one thread.
struct Task {
  profiler::Event event;
  std::int64_t thread_id;
};

/// Ordered by their beginning. The recorder is locked while they are copied.
std::vector<Task> drain_tasks() {
  std::vector<Task> tasks;
  profiler::drain_in_place([&](const profiler::ThreadEvents& of_thread) {
    for (const profiler::Event& event : of_thread.events)
      if (event.kind == profiler::EventKind::kTask)
        tasks.push_back({event, of_thread.os_thread_id});
  });
  std::ranges::stable_sort(tasks, {}, [](const Task& task) { return task.event.begin_ticks; });
  return tasks;
}

class Subscriptions {
 public:
  Subscriptions() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    require(wake_.number() >= 0, ACL_ERROR_PROFILING_FAILURE, "no descriptor is left");
  }
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  void add(Model& model, const aclprofSubscribeConfig& config);
  bool has(std::uint32_t model_id);
  WaitForClose remove(std::uint32_t model_id);
  WaitForClose remove_all();
  bool is_of_this_process() const { return ::getpid() == owner_pid_; }
  std::mutex& mutex() { return mutex_; }
  /// In a child process, which uses this no more.
  void forget() {
    for (const auto& [id, subscriber] : subscribers_) subscriber.model->is_subscribed = false;
    for (const auto& pipe : pipes_) pipe->forget();
  }

 private:
  struct Subscriber {
    Model* model;  ///< unloading it ends the subscription first
    aclprofSubscribeConfig config;
    std::vector<OpFacts> ops;
    std::shared_ptr<RecordPipe> pipe;
  };
  using Subscribers = std::map<std::uint32_t, Subscriber>;

  // mutex_ is held in these.
  std::shared_ptr<RecordPipe> pipe_of(int descriptor);
  void begin();
  void end();
  void start_thread();
  void take_tasks();
  void add_record(const Task& task);
  WaitForClose remove(Subscribers::iterator subscriber);
  void close_pipes(RecordPipe::Clock::time_point now);

  void run();
  std::vector<pollfd> pass_on_records(RecordPipe::Clock::time_point now);
  void wait_for_work(std::vector<pollfd>& wanted);
  void wake() const;

  const int owner_pid_ = ::getpid();
  const Descriptor wake_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable closed_;
  Subscribers subscribers_;  ///< by the number that events tell the model by
  std::vector<std::shared_ptr<RecordPipe>> pipes_;
  bool is_running_ = false;
  bool is_hurried_ = false;  ///< the process ends: nobody is waited for
  std::thread thread_;
};

/// A child process leaves its copy alone: it has no thread.
struct EndInItsProcess {
  void operator()(Subscriptions* all) const {
    if (all->is_of_this_process()) std::default_delete<Subscriptions>()(all);
  }
};

/// Made with the first subscription; ends with the process, for programs that never call aclFinalize().
std::unique_ptr<Subscriptions, EndInItsProcess>& subscriptions() {
  static std::unique_ptr<Subscriptions, EndInItsProcess> instance;
  return instance;
}

Subscriptions::~Subscriptions() {
  (void)remove_all();
  {
    const std::lock_guard lock(mutex_);
    is_hurried_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void Subscriptions::add(Model& model, const aclprofSubscribeConfig& config) {
  const std::uint32_t id_in_events = model.id & profiler::kMostModelId;
  const std::lock_guard lock(mutex_);
  if (const auto same = subscribers_.find(id_in_events); same != subscribers_.end()) {
    require(same->second.model->id != model.id, ACL_ERROR_PROF_REPEAT_SUBSCRIBE,
            "the model is subscribed already");
    throw AclFailure(ACL_ERROR_PROFILING_FAILURE,
                     "model " + std::to_string(same->second.model->id) +
                         " is subscribed, from which 4096 models on are not told apart");
  }
  if (!subscribers_.empty()) {
    const aclprofSubscribeConfig& others = subscribers_.begin()->second.config;
    require(others.with_times == config.with_times && others.metrics == config.metrics,
            ACL_ERROR_INVALID_PROFILING_CONFIG,
            "another model is subscribed with another timeInfoSwitch or other metrics");
  }
  std::vector<OpFacts> ops = facts_of(model);
  std::shared_ptr<RecordPipe> pipe = pipe_of(config.descriptor);
  if (subscribers_.empty()) begin();
  subscribers_[id_in_events] = {&model, config, std::move(ops), std::move(pipe)};
  model.is_subscribed = true;
  if (!is_running_) start_thread();
  wake();
}

/// Models may share one descriptor.
std::shared_ptr<RecordPipe> Subscriptions::pipe_of(int descriptor) {
  for (const auto& pipe : pipes_)
    if (pipe->descriptor() == descriptor) {
      require(!pipe->is_closing(), ACL_ERROR_INVALID_PARAM, "the descriptor is being closed");
      return pipe;
    }
  return pipes_.emplace_back(std::make_shared<RecordPipe>(descriptor));
}

void Subscriptions::begin() {
  profiler::drain();  // what others recorded before is nobody's
  profiler::start(profiler::kind_bit(profiler::EventKind::kTask));
  is_on = true;
}

void Subscriptions::end() {
  is_on = false;
  profiler::stop();
  if (const std::uint64_t lost = profiler::lost_events(); lost > 0)
    logger("profiler")->warn("{} records of ops were dropped: too many at once", lost);
}

void Subscriptions::start_thread() {
  if (thread_.joinable()) thread_.join();  // it has nothing left to do but to return
  const SignalsBlocked blocked;            // SIGPIPE above all
  thread_ = std::thread([this] { run(); });
  is_running_ = true;
}

bool Subscriptions::has(std::uint32_t model_id) {
  const std::lock_guard lock(mutex_);
  const auto found = subscribers_.find(model_id & profiler::kMostModelId);
  return found != subscribers_.end() && found->second.model->id == model_id;
}

WaitForClose Subscriptions::remove(std::uint32_t model_id) {
  if (!has(model_id)) return {};
  const std::lock_guard lock(mutex_);
  take_tasks();
  return remove(subscribers_.find(model_id & profiler::kMostModelId));
}

WaitForClose Subscriptions::remove_all() {
  const std::lock_guard lock(mutex_);
  if (!subscribers_.empty()) take_tasks();
  std::vector<WaitForClose> waits;
  while (!subscribers_.empty()) waits.push_back(remove(subscribers_.begin()));
  return [waits = std::move(waits)] {
    for (const WaitForClose& wait : waits)
      if (wait) wait();
  };
}

WaitForClose Subscriptions::remove(Subscribers::iterator subscriber) {
  const std::shared_ptr<RecordPipe> pipe = subscriber->second.pipe;
  subscriber->second.model->is_subscribed = false;
  subscribers_.erase(subscriber);
  if (subscribers_.empty()) end();
  const auto uses_pipe = [&](const auto& entry) { return entry.second.pipe == pipe; };
  if (std::ranges::any_of(subscribers_, uses_pipe)) return {};
  pipe->begin_closing(RecordPipe::Clock::now());
  wake();
  return [this, pipe] {
    std::unique_lock lock(mutex_);
    closed_.wait(lock, [&] { return pipe->is_closed(); });
  };
}

void Subscriptions::take_tasks() {
  for (const Task& task : drain_tasks()) add_record(task);
}

void Subscriptions::add_record(const Task& task) {
  const std::uint32_t id_in_events =
      profiler::run_and_model_of(task.event.value) & profiler::kMostModelId;
  const std::uint32_t op = profiler::op_index_of(task.event.value);
  const auto found = subscribers_.find(id_in_events);
  if (found == subscribers_.end() || op >= found->second.ops.size()) return;
  const Subscriber& subscriber = found->second;
  const OpFacts& facts = subscriber.ops[op];
  OpRecord record{.model_id = subscriber.model->id,
                  .op_index = op,
                  .name_id = facts.name_id,
                  .type_id = facts.type_id,
                  .flag = ACL_SUBSCRIBE_OP,
                  .thread_id = task.thread_id,
                  .cube_flops = facts.flops.cube,
                  .vector_flops = facts.flops.vector};
  if (subscriber.config.with_times) {
    record.begin_ns = profiler::to_monotonic_ns(task.event.begin_ticks);
    record.end_ns = std::max(record.begin_ns, profiler::to_monotonic_ns(task.event.end_ticks));
    record.execution_ns = record.end_ns - record.begin_ns;  // nothing is dispatched: it is called
  }
  subscriber.pipe->add(record);
}

void Subscriptions::close_pipes(RecordPipe::Clock::time_point now) {
  const auto is_done = [&](const std::shared_ptr<RecordPipe>& pipe) {
    if (!pipe->is_closing() || !(is_hurried_ || pipe->can_close(now))) return false;
    pipe->close();
    return true;
  };
  if (std::erase_if(pipes_, is_done) > 0) closed_.notify_all();
}

void Subscriptions::run() {
  std::unique_lock lock(mutex_);
  while (!pipes_.empty()) {
    std::vector<pollfd> wanted;
    // Without memory no record is passed on any more, but whoever ends a subscription is waited for as ever.
    behind_thread_wall([&] { wanted = pass_on_records(RecordPipe::Clock::now()); },
                       [this](const char*) {
                         for (const auto& pipe : pipes_) pipe->give_up("no memory");
                         close_pipes(RecordPipe::Clock::now());
                       });
    if (pipes_.empty()) break;
    lock.unlock();
    wait_for_work(wanted);
    lock.lock();
  }
  is_running_ = false;
}

/// Returns what to wait for: a call of wake(), and room in pipes that are full.
std::vector<pollfd> Subscriptions::pass_on_records(RecordPipe::Clock::time_point now) {
  if (!subscribers_.empty()) take_tasks();
  for (const auto& pipe : pipes_) pipe->write(now);
  close_pipes(now);
  std::vector<pollfd> wanted = {{.fd = wake_.number(), .events = POLLIN, .revents = 0}};
  for (const auto& pipe : pipes_)
    if (pipe->is_waiting())
      wanted.push_back({.fd = pipe->descriptor(), .events = POLLOUT, .revents = 0});
  return wanted;
}

/// Until the next period at the latest.
void Subscriptions::wait_for_work(std::vector<pollfd>& wanted) {
  ::poll(wanted.data(), wanted.size(), kPeriodMs);
  std::uint64_t calls = 0;
  while (::read(wake_.number(), &calls, sizeof calls) > 0) continue;
}

void Subscriptions::wake() const {
  const std::uint64_t one = 1;
  // It can only fail when so many calls wait that the thread wakes anyway.
  if (::write(wake_.number(), &one, sizeof one) < 0) return;
}

}  // namespace

void subscribe(Model& model, const aclprofSubscribeConfig& config) {
  auto& all = subscriptions();
  if (all == nullptr)
    all = std::unique_ptr<Subscriptions, EndInItsProcess>(
        std::make_unique<Subscriptions>().release());
  all->add(model, config);
  prof_modes().set(ProfMode::kSubscribe);
}

bool is_subscribed(std::uint32_t model_id) {
  return subscriptions() != nullptr && subscriptions()->has(model_id);
}

WaitForClose unsubscribe(std::uint32_t model_id) {
  if (prof_modes().mode() != ProfMode::kSubscribe || subscriptions() == nullptr) return {};
  WaitForClose wait = subscriptions()->remove(model_id);
  if (!is_subscription_on()) prof_modes().set(ProfMode::kOff);
  return wait;
}

WaitForClose unsubscribe_all() {
  if (prof_modes().mode() != ProfMode::kSubscribe || subscriptions() == nullptr) return {};
  prof_modes().set(ProfMode::kOff);
  return subscriptions()->remove_all();
}

void lock_subscriptions() {
  if (subscriptions() != nullptr) subscriptions()->mutex().lock();
}

void unlock_subscriptions() {
  if (subscriptions() != nullptr) subscriptions()->mutex().unlock();
}

void forget_subscriptions() {
  if (subscriptions() == nullptr) return;
  subscriptions()->forget();
  (void)subscriptions().release();  // its thread is not here
  if (prof_modes().mode() != ProfMode::kSubscribe) return;
  is_on = false;
  profiler::stop();
  prof_modes().set(ProfMode::kOff);
}

bool is_subscription_on() {
  return is_on.load(std::memory_order_relaxed);
}

}  // namespace aoe::runtime::acl
