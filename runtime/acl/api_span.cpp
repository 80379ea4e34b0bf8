// The value of API events: level and connection.
#include "runtime/acl/api_span.h"

#include <utility>

namespace aoe::runtime::acl {
namespace {

constexpr std::uint64_t kAclLevel = 20000;
constinit thread_local std::uint32_t connection = 0;

}  // namespace

void ApiSpan::record() const {
  const std::uint64_t connected = std::exchange(connection, 0);
  profiler::record(profiler::EventKind::kApi, name_id_, begin_, profiler::now_ticks(),
                   kAclLevel | connected << 16);
}

void connect_api_call(std::uint32_t run_and_model) {
  connection = run_and_model;
}

}  // namespace aoe::runtime::acl
