#include "native/scratch.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/memory.h"

namespace aoe::native {
namespace {

constexpr std::align_val_t kCacheLine{64};

struct Block {
  void* data;
  std::size_t bytes;
};

/// Of a thread, the longest kept first.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    while (!blocks_.empty()) drop_first();
  }

  /// The smallest that has so many bytes; none where data is null.
  Block take(std::size_t bytes) {
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
      if (block->bytes >= bytes && (best == blocks_.end() || block->bytes < best->bytes))
        best = block;
    if (best == blocks_.end()) return {nullptr, 0};
    const Block taken = *best;
    blocks_.erase(best);
    bytes_ -= taken.bytes;
    return taken;
  }

  void keep(Block block) noexcept {
    constexpr std::size_t kMostBytes = std::size_t{16} << 20, kMostBlocks = 32;
    try {
      blocks_.push_back(block);
    } catch (const std::bad_alloc&) {
      return ::operator delete(block.data, kCacheLine);
    }
    bytes_ += block.bytes;
    while (bytes_ > kMostBytes || blocks_.size() > kMostBlocks) drop_first();
  }

 private:
  void drop_first() noexcept {
    bytes_ -= blocks_.front().bytes;
    ::operator delete(blocks_.front().data, kCacheLine);
    blocks_.erase(blocks_.begin());
  }

  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

/// Of a thread whose blocks are gone: what statics hold, loaded models among it, ends later.
thread_local bool has_ended = false;

/// nullptr then.
Kept* kept() {
  struct Owner {
    Kept blocks;
    ~Owner() { has_ended = true; }
  };
  thread_local Owner owner;
  return has_ended ? nullptr : &owner.blocks;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  Kept* const blocks = kept();
  const Block block = blocks != nullptr ? blocks->take(bytes_) : Block{nullptr, 0};
  if (block.data != nullptr) {
    data_ = block.data;
    bytes_ = block.bytes;
    return;
  }
  check_memory(bytes_, "room that a kernel works in");
  data_ = ::operator new(bytes_, kCacheLine);
}

Scratch::~Scratch() {
  if (data_ == nullptr) return;
  if (Kept* const blocks = kept())
    blocks->keep({data_, bytes_});
  else
    ::operator delete(data_, kCacheLine);
}

}  // namespace aoe::native
