// StampNames: the texts of stamps, each interned once, and no more of them than a bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/held_at_fork.h"

namespace aoe::runtime::acl {

/// Different texts, and their bytes, that stamps of one process can have: the recorder keeps them for good.
inline constexpr std::size_t kMostStampNames = 1 << 16;
inline constexpr std::size_t kMostStampNameBytes = 16 << 20;
/// What a further text is recorded as.
inline constexpr std::string_view kDroppedText = "(text dropped)";

/// Thread-safe.
class StampNames {
 public:
  /// The recorder's id; that of kDroppedText, and one more drop counted, when there is no room for another text.
  std::uint32_t id_of(std::string_view text);
  bool is_known(std::uint64_t id) const;
  std::string text_of(std::uint32_t id) const;
  /// Of the last call on.
  std::uint64_t take_dropped() { return dropped_.exchange(0); }
  std::uint32_t dropped_id() const { return dropped_id_; }

  StampNames();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  mutable std::mutex mutex_;
  const HeldAtFork held_{mutex_, LockRung::kTexts};
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::unordered_map<std::uint32_t, const std::string*> texts_;
  std::size_t bytes_ = 0;
  const std::uint32_t dropped_id_;
  std::atomic<std::uint64_t> dropped_{0};
};

/// Of this process; never destroyed.
StampNames& stamp_names();

}  // namespace aoe::runtime::acl
