// Open ranges, and the events that marks and ended ranges become.
#include "runtime/acl/prof_stamps.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/held_at_fork.h"
#include "runtime/acl/stamp_names.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

using profiler::EventKind;
using profiler::StampType;

struct OpenRange {
  Stamp stamp;
  std::uint64_t begin = 0;
  std::uint32_t collection = 0;
  bool is_op = false;
};

/// So that a program that never ends its ranges does not grow.
constexpr std::size_t kMostNestedRanges = 4096;
constexpr std::size_t kMostOpenRanges = 1 << 16;

std::atomic<std::uint32_t> collection = 0;  ///< running number
thread_local std::vector<OpenRange> nested;

std::mutex open_mutex;
const HeldAtFork held_ranges(open_mutex, LockRung::kInterface);
std::unordered_map<std::uint32_t, OpenRange> open_ranges;
std::uint32_t last_range_id = 0;

void record(const Stamp& stamp, StampType type, std::uint64_t begin, std::uint64_t end,
            std::uint32_t range_id) {
  const bool has_detail = stamp.has_detail();
  if (has_detail) {
    const profiler::Event detail = stamp.detail.pack(begin);
    profiler::record(profiler::kStampDetail, detail.name_id, detail.begin_ticks, detail.end_ticks,
                     detail.value);
  }
  const std::uint32_t message =
      stamp.message_id == profiler::StampDetail::kNone ? stamp_names().id_of("") : stamp.message_id;
  profiler::record(EventKind::kStamp, message, begin, end,
                   profiler::stamp_value(type, has_detail, range_id));
}

OpenRange opened(const Stamp& stamp, bool is_op) {
  return {stamp, profiler::now_ticks(), collection.load(std::memory_order_relaxed), is_op};
}

/// Those of an earlier collection.
void drop_stale_ranges() {
  const std::uint32_t now = collection.load(std::memory_order_relaxed);
  std::erase_if(nested, [&](const OpenRange& range) { return range.collection != now; });
}

}  // namespace

void require_stamps() {
  require(profiler::is_recorded(EventKind::kStamp), ACL_ERROR_PROF_NOT_RUN,
          "no collection with ACL_PROF_MSPROFTX (msproftx, --msproftx=on) runs");
}

void record_mark(const Stamp& stamp, StampType type) {
  require_stamps();
  const std::uint64_t now = profiler::now_ticks();
  record(stamp, type, now, now, 0);
}

void push_range(const Stamp& stamp, bool is_op) {
  require_stamps();
  drop_stale_ranges();
  require(nested.size() < kMostNestedRanges, ACL_ERROR_STORAGE_OVER_LIMIT,
          "too many ranges of this thread are open");
  nested.push_back(opened(stamp, is_op));
}

void pop_range(bool is_op) {
  require_stamps();
  drop_stale_ranges();
  require(!nested.empty() && nested.back().is_op == is_op, ACL_ERROR_INVALID_PARAM,
          "the innermost range of this thread was not begun by the call that belongs to this one");
  const OpenRange range = nested.back();
  nested.pop_back();
  record(range.stamp, StampType::kPushPop, range.begin, profiler::now_ticks(), 0);
}

std::uint32_t start_range(const Stamp& stamp) {
  require_stamps();
  OpenRange range = opened(stamp, /*is_op=*/false);
  range.stamp.detail.begin_thread = static_cast<std::uint32_t>(::gettid());
  const std::lock_guard lock(open_mutex);
  require(open_ranges.size() < kMostOpenRanges, ACL_ERROR_STORAGE_OVER_LIMIT,
          "too many ranges are open");
  do ++last_range_id;
  while (last_range_id == 0 || open_ranges.contains(last_range_id));
  open_ranges.emplace(last_range_id, range);
  return last_range_id;
}

void stop_range(std::uint32_t id) {
  require_stamps();
  OpenRange range;
  {
    const std::lock_guard lock(open_mutex);
    const auto found = open_ranges.extract(id);
    require(!found.empty(), ACL_ERROR_INVALID_PARAM,
            "no range of this id is open, or not in this collection");
    range = found.mapped();
  }
  record(range.stamp, StampType::kStartEnd, range.begin, profiler::now_ticks(), id);
}

void forget_open_ranges() {
  collection.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(open_mutex);
  open_ranges.clear();
}

}  // namespace aoe::runtime::acl
