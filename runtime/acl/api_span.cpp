// The value of API events: level and connection.
#include "runtime/acl/api_span.h"

namespace aoe::runtime::acl {
namespace {

constinit thread_local std::uint32_t connection = 0;

}  // namespace

std::uint64_t ApiSpan::begin() {
  connection = 0;
  return profiler::now_ticks();
}

void ApiSpan::record() const {
  profiler::record(profiler::EventKind::kApi, name_id_, begin_, profiler::now_ticks(),
                   kAclLevel | std::uint64_t{connection} << 16);
}

void connect_api_call(std::uint32_t run_and_model) {
  connection = run_and_model;
}

}  // namespace aoe::runtime::acl
