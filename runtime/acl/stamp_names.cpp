// A table in front of the recorder's own, which has no bound.
#include "runtime/acl/stamp_names.h"

#include <memory>

#include "profiler/recorder.h"

namespace aoe::runtime::acl {

StampNames::StampNames() : dropped_id_(profiler::intern(kDroppedText)) {
}

std::uint32_t StampNames::id_of(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  if (ids_.size() >= kMostStampNames || bytes_ + text.size() > kMostStampNameBytes) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return dropped_id_;
  }
  const std::uint32_t id = profiler::intern(text);
  const auto entry = ids_.emplace(text, id).first;
  texts_.emplace(id, &entry->first);
  bytes_ += text.size();
  return id;
}

bool StampNames::is_known(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return id <= UINT32_MAX && texts_.contains(static_cast<std::uint32_t>(id));
}

std::string StampNames::text_of(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find(id);
  return found == texts_.end() ? std::string(kDroppedText) : *found->second;
}

namespace {
/// Made before main(): a fork() never meets it half-made.
[[maybe_unused]] const StampNames& names_made_early = stamp_names();
}  // namespace

StampNames& stamp_names() {
  static StampNames& instance = *std::make_unique<StampNames>().release();
  return instance;
}

}  // namespace aoe::runtime::acl
