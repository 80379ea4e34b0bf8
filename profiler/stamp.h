// How a stamp of the application lies in events: one kStamp, and before it, where there is more to say, one kStampDetail of the
// same thread.
//
//   kStamp        begin and end; name = the message; value = stamp_value()
//   kStampDetail  as StampDetail::pack() makes it: not times, but what else was said
#pragma once

#include <cstdint>

#include "profiler/recorder.h"

namespace aoe::profiler {

/// Goes with kStamp: nobody can ask for it alone.
inline constexpr EventKind kStampDetail{8};

/// The op index of a kStep that the program itself says; its number stands in place of run and model.
inline constexpr std::uint32_t kProgramStep = kWholeModel - 1;

/// As ENUM_MSTX_EVENT_TYPE of profiles numbers them.
enum class StampType : std::uint8_t { kMarker = 0, kPushPop = 1, kStartEnd = 2, kMarkerEx = 3 };

/// `range_id`: of a range that another thread may end; 0 otherwise.
constexpr std::uint64_t stamp_value(StampType type, bool has_detail, std::uint32_t range_id) {
  return std::uint64_t{range_id} << 32 | std::uint64_t{has_detail} << 8 |
         static_cast<std::uint64_t>(type);
}
inline constexpr std::uint64_t kStampHasDetail = 1 << 8;
constexpr std::int64_t stamp_type_of(std::uint64_t value) {
  return static_cast<std::int64_t>(value & 0xff);
}
constexpr std::uint32_t range_id_of(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// What a payload's bits are.
enum class PayloadType : std::uint8_t { kUint64, kInt64, kDouble, kUint32, kInt32, kFloat };
inline constexpr int kPayloadTypes = 6;

struct StampDetail {
  static constexpr std::uint32_t kNone = 0xffffffff;

  bool has_category = false;
  bool has_payload = false;
  PayloadType payload_type = PayloadType::kUint64;
  std::uint32_t category = 0;
  std::uint64_t payload = 0;               ///< its bits, the rest 0
  std::uint32_t category_name_id = kNone;  ///< from intern()
  std::uint32_t tag_id = kNone;            ///< from intern()
  std::uint32_t begin_thread = 0;          ///< the operating system's; 0: that which records

  /// `ticks` of the stamp's begin, so that the two find each other again when a full ring loses some.
  Event pack(std::uint64_t ticks) const {
    return {.begin_ticks = std::uint64_t{category_name_id} << 32 | tag_id,
            .end_ticks = payload,
            .name_id = category,
            .kind = kStampDetail,
            .thread = 0,
            .value = std::uint64_t{begin_thread} << 32 | (ticks & 0xffff) << 16 |
                     std::uint64_t{has_payload} << 9 | std::uint64_t{has_category} << 8 |
                     static_cast<std::uint64_t>(payload_type)};
  }
  static StampDetail unpack(std::uint64_t begin, std::uint64_t end, std::uint32_t name_id,
                            std::uint64_t value) {
    StampDetail detail;
    detail.has_category = (value >> 8 & 1) != 0;
    detail.has_payload = (value >> 9 & 1) != 0;
    detail.payload_type = static_cast<PayloadType>(value & 0xff);
    detail.category = name_id;
    detail.payload = end;
    detail.category_name_id = static_cast<std::uint32_t>(begin >> 32);
    detail.tag_id = static_cast<std::uint32_t>(begin);
    detail.begin_thread = static_cast<std::uint32_t>(value >> 32);
    return detail;
  }
  static bool belongs_to(std::uint64_t detail_value, std::uint64_t stamp_begin_ticks) {
    return (detail_value >> 16 & 0xffff) == (stamp_begin_ticks & 0xffff);
  }
};

}  // namespace aoe::profiler
