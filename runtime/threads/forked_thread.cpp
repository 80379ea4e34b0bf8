// One helper thread per forked process. Tested by tests/runtime/fork_test.cpp.
#include "runtime/threads/forked_thread.h"

#include <pthread.h>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace aoe::runtime {
namespace {

constinit thread_local bool is_forked = false;

/// Serves the one thread that a forked process begins with.
class Helper {
 public:
  Helper() : thread_([this] { serve(); }) {}
  ~Helper() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void run(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return work_ != nullptr || is_over_; });
      if (work_ == nullptr) return;
      try {
        (*work_)();
      } catch (...) {  // a thread's wall: rethrown by run()
        failure_ = std::current_exception();
      }
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr failure_;
  bool is_over_ = false;
  std::thread thread_;
};

std::unique_ptr<Helper>& helper() {
  static std::unique_ptr<Helper> instance;
  return instance;
}

/// In the child, on the thread that called fork(). A helper of the parent has no thread here: its memory stays.
void note_fork() {
  is_forked = true;
  (void)helper().release();
}

const bool is_registered = [] {
  helper();  // made before, so that it is there until after
  return ::pthread_atfork(nullptr, nullptr, note_fork) == 0;
}();

}  // namespace

bool came_through_fork() {
  return is_forked;
}

void run_beside_fork(const std::function<void()>& work) {
  (void)is_registered;
  if (helper() == nullptr) helper() = std::make_unique<Helper>();
  helper()->run(work);
}

}  // namespace aoe::runtime
