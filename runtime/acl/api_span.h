// ApiSpan: one call of the C API as an event of the profiler.
#pragma once

#include <cstdint>

#include "profiler/recorder.h"

namespace aoe::runtime::acl {

// The levels of calls, as ENUM_API_TYPE of profiles numbers them.
inline constexpr std::uint64_t kAclLevel = 20000;
inline constexpr std::uint64_t kModelLevel = 15000;

/// Interned once for each C function: each has a body of its own type.
template <typename Body>
std::uint32_t api_name(const char* function) {
  static const std::uint32_t id = profiler::intern(function);
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
