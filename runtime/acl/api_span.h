// ApiSpan: one call of the C API as an event of the profiler.
#pragma once

#include <atomic>
#include <cstdint>

#include "profiler/recorder.h"

namespace aoe::runtime::acl {

// The levels of calls, as ENUM_API_TYPE of profiles numbers them.
inline constexpr std::uint64_t kAclLevel = 20000;
inline constexpr std::uint64_t kModelLevel = 15000;

/// Interned once for each C function: each has a body of its own type. Not as a static that is computed: when fork() comes
/// while another thread computes it, the child waits for that thread for ever.
template <typename Body>
std::uint32_t api_name(const char* function) {
  constexpr std::uint32_t kNone = 0xffffffff;
  static constinit std::atomic<std::uint32_t> known{kNone};
  std::uint32_t id = known.load(std::memory_order_relaxed);
  if (id == kNone) known.store(id = profiler::intern(function), std::memory_order_relaxed);
  return id;
}

class ApiSpan {
 public:
  explicit ApiSpan(std::uint32_t name_id)
      : begin_(profiler::is_recorded(profiler::EventKind::kApi) ? begin() : 0), name_id_(name_id) {}
  ~ApiSpan() {
    if (begin_ != 0) record();
  }
  ApiSpan(const ApiSpan&) = delete;
  ApiSpan& operator=(const ApiSpan&) = delete;

 private:
  static std::uint64_t begin();
  void record() const;

  std::uint64_t begin_;
  std::uint32_t name_id_;
};

/// Tells which execution the API call that this thread is in launches, so that its event can be connected to the tasks.
void connect_api_call(std::uint32_t run_and_model);

}  // namespace aoe::runtime::acl
