// The library as a whole: whether it is initialized, its sessions, and who may do what now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "api/option_list.h"
#include "api/session.h"

namespace aoe::api {

class Library {
 public:
  static Library& instance();

  // Each throws Failure with the documented code.
  void initialize(OptionList options);
  void finalize();
  std::uint64_t create_session();
  void destroy_session(std::uint64_t id);

  /// Runs `use(Session&)` unless the session is at work.
  template <typename Use>
  void with(std::uint64_t id, Use&& use) {
    const std::lock_guard lock(mutex_);
    Entry& entry = idle(id);
    use(*entry.session);
  }

  void tune(std::uint64_t id, const OptionList& options);
  void stop(std::uint64_t id);

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    bool is_tuning = false;
  };
  void require_initialized() const;
  Entry& find(std::uint64_t id);
  Entry& idle(std::uint64_t id);

  std::mutex mutex_;
  bool is_initialized_ = false;
  bool is_tuning_ = false;
  OptionList options_;
  std::map<std::uint64_t, Entry> sessions_;
  std::uint64_t next_id_ = 1;
};

}  // namespace aoe::api
