// Two generations, which is as good as least recently used and has no list.
#include "compiler/loopnest/object_memo.h"

#include <utility>

namespace aoe::compiler::loopnest {

std::optional<std::string> ObjectMemo::find(const Digest128& key) {
  const std::scoped_lock lock(mutex_);
  if (const auto young = young_.find(key); young != young_.end()) return young->second;
  const auto old = old_.find(key);
  if (old == old_.end()) return std::nullopt;
  std::string object = std::move(old->second);
  old_.erase(old);
  keep_locked(key, object);
  return object;
}

void ObjectMemo::keep(const Digest128& key, std::string object) {
  const std::scoped_lock lock(mutex_);
  keep_locked(key, std::move(object));
}

void ObjectMemo::keep_locked(const Digest128& key, std::string object) {
  if (young_bytes_ + object.size() > generation_bytes_) {
    old_ = std::exchange(young_, {});
    young_bytes_ = 0;
  }
  const std::size_t size_bytes = object.size();
  if (young_.try_emplace(key, std::move(object)).second) young_bytes_ += size_bytes;
}

}  // namespace aoe::compiler::loopnest
