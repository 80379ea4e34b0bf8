// Recording of stamps and ranges, behind the functions of prof_stamp_api.cpp.
#pragma once

#include <cstdint>

#include "profiler/stamp.h"

namespace aoe::runtime::acl {

/// What a program says about a mark or a range.
struct Stamp {
  std::uint32_t message_id = profiler::StampDetail::kNone;
  profiler::StampDetail detail;
  bool has_detail() const {
    return detail.has_category || detail.has_payload || detail.begin_thread != 0 ||
           detail.tag_id != profiler::StampDetail::kNone;
  }
};

/// Throws ACL_ERROR_PROF_NOT_RUN when no collection records stamps now.
void require_stamps();

void record_mark(const Stamp& stamp, profiler::StampType type);

/// Ranges of the calling thread nest; `is_op` tells those of aclprofRangePushEx(), which end by aclprofRangePop(). Throw
/// ACL_ERROR_INVALID_PARAM when the innermost range is none of that kind, ACL_ERROR_STORAGE_OVER_LIMIT when too many are open.
void push_range(const Stamp& stamp, bool is_op);
void pop_range(bool is_op);
/// Ranges that any thread may end; never 0.
std::uint32_t start_range(const Stamp& stamp);
void stop_range(std::uint32_t id);

/// Told when a collection begins: ranges that are open belong to none from then on.
void forget_open_ranges();

}  // namespace aoe::runtime::acl
