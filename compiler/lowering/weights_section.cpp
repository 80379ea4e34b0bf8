// Packing in batches: a model of many gears packs the same weights many times, and no more than a batch of copies is in
// memory at a time.
#include "compiler/lowering/weights_section.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/memory.h"
#include "base/parallel_for.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::size_t kBatchBytes = std::size_t{64} << 20;

std::string in_mib(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

std::size_t WeightsSection::add(std::size_t size_bytes, std::function<void(void*)> pack) {
  items_.push_back({size_bytes, std::move(pack)});
  return items_.size() - 1;
}

std::size_t WeightsSection::add(const ConstantPtr& constant) {
  const auto [at, is_new] = whole_.try_emplace(constant.get(), items_.size());
  if (is_new)
    add(constant->size_bytes(),
        [constant](void* to) { std::memcpy(to, constant->data(), constant->size_bytes()); });
  return at->second;
}

AlignedBytes WeightsSection::pack(int threads, const IsCutOff& is_cut_off) {
  AlignedBytes section;
  std::size_t most_bytes = 0;
  for (const Item& item : items_) most_bytes += item.size_bytes + std::size_t{kAlignment};
  section.reserve(most_bytes);  // pages that duplicates would have taken are never touched
  std::uint64_t end_of_placed = 0;
  for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
    std::size_t batch_bytes = 0;
    while (end < items_.size() && (end == begin || batch_bytes < kBatchBytes))
      batch_bytes += items_[end++].size_bytes;
    const std::vector<Packed> batch = pack_items(begin, end, section, threads, is_cut_off);
    for (std::size_t i = begin; i < end; ++i)
      items_[i].offset = place(batch[i - begin], section, end_of_placed);
    section.resize(end_of_placed);
    // Constants that were packed lie in the middle of the heap; the allocator gives such memory back when it is asked. Of
    // small models, as the tuner compiles by the hundred, there is nothing worth asking for.
    if (batch_bytes >= kBatchBytes) ::malloc_trim(0);
  }
  return section;
}

/// Behind what is in the section.
std::vector<WeightsSection::Packed> WeightsSection::pack_items(std::size_t begin, std::size_t end,
                                                               AlignedBytes& section, int threads,
                                                               const IsCutOff& is_cut_off) {
  std::vector<Packed> batch;
  std::uint64_t section_bytes = section.size();
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t offset = round_up(section_bytes, kAlignment);
    batch.push_back({offset, items_[i].size_bytes, {}});
    section_bytes = offset + items_[i].size_bytes;
  }
  section.resize(section_bytes);
  parallel_for(batch.size(), threads, [&](std::size_t i) {
    check_cut_off(is_cut_off);
    Packed& packed = batch[i];
    check_memory(packed.size_bytes, "the weights of the om, " + in_mib(section.capacity()) +
                                        ", of which " + in_mib(packed.offset) + " are packed");
    const std::uint64_t next_offset = i + 1 < batch.size() ? batch[i + 1].offset : section_bytes;
    std::memset(section.data() + packed.offset, 0, next_offset - packed.offset);
    items_[begin + i].pack(section.data() + packed.offset);
    packed.digest = hash128({section.data() + packed.offset, packed.size_bytes});
    items_[begin + i].pack = nullptr;  // with the constants that only it held
  });
  return batch;
}

/// Where these bytes are in the section, whose first `end` bytes are final: there already, or from now on at their end, to
/// which they move down when a duplicate has left a gap.
std::uint64_t WeightsSection::place(const Packed& packed, AlignedBytes& section,
                                    std::uint64_t& end) {
  char* const bytes = section.data();
  const auto [first, last] = offsets_.equal_range(packed.digest);
  for (auto known = first; known != last; ++known)
    if (known->second + packed.size_bytes <= end &&
        std::memcmp(bytes + known->second, bytes + packed.offset, packed.size_bytes) == 0)
      return known->second;
  const std::uint64_t offset = round_up(end, kAlignment);
  if (offset != packed.offset) {
    std::memmove(bytes + offset, bytes + packed.offset, packed.size_bytes);
    std::memset(bytes + end, 0, offset - end);
  }
  end = offset + packed.size_bytes;
  offsets_.emplace(packed.digest, offset);
  return offset;
}

}  // namespace aoe::compiler
