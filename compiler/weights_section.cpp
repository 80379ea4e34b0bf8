// Packing in batches: a model of many gears packs the same weights many times, and only one batch
// of them is in memory twice.
#include "compiler/weights_section.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>

namespace aoe::compiler {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::size_t kBatchBytes = std::size_t{64} << 20;

}  // namespace

struct WeightsSection::Packed {
  std::unique_ptr<Constant> bytes;
  Digest128 digest;
  std::string_view view() const {
    return {static_cast<const char*>(bytes->data()), bytes->size_bytes()};
  }
};

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

std::string WeightsSection::pack(int threads) {
  std::string section;
  std::size_t most_bytes = 0;
  for (const Item& item : items_) most_bytes += item.size_bytes + kAlignment;
  section.reserve(most_bytes);  // pages that duplicates would have taken are never touched
  for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
    std::size_t batch_bytes = 0;
    while (end < items_.size() && (end == begin || batch_bytes < kBatchBytes))
      batch_bytes += items_[end++].size_bytes;
    const std::vector<Packed> batch = pack_items(begin, end, threads);
    for (std::size_t i = begin; i < end; ++i) items_[i].offset = place(batch[i - begin], section);
  }
  return section;
}

std::vector<WeightsSection::Packed> WeightsSection::pack_items(std::size_t begin, std::size_t end,
                                                               int threads) const {
  std::vector<Packed> batch(end - begin);
  std::atomic<std::size_t> next = 0;
  const auto pack_some = [&] {
    for (std::size_t i = next++; i < batch.size(); i = next++) {
      const Item& item = items_[begin + i];
      const TensorDesc desc{DataType::kUint8, {static_cast<std::int64_t>(item.size_bytes)}};
      batch[i].bytes = std::make_unique<Constant>(desc);
      item.pack(batch[i].bytes->mutable_data());
      batch[i].digest = hash128(batch[i].view());
    }
  };
  std::vector<std::exception_ptr> failures(std::max(1, threads));
  {
    std::vector<std::jthread> team;
    for (std::exception_ptr& failure : failures)
      team.emplace_back([&] {
        try {
          pack_some();
        } catch (...) {  // a thread's wall; rethrown below
          failure = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return batch;
}

/// Where these bytes are in the section; appended when they are not there yet.
std::uint64_t WeightsSection::place(const Packed& packed, std::string& section) {
  const std::string_view bytes = packed.view();
  const auto [first, last] = offsets_.equal_range(packed.digest);
  for (auto known = first; known != last; ++known)
    if (std::string_view(section).substr(known->second, bytes.size()) == bytes)
      return known->second;
  const std::uint64_t offset = (section.size() + kAlignment - 1) / kAlignment * kAlignment;
  section.resize(offset, '\0');
  section.append(bytes);
  offsets_.emplace(packed.digest, offset);
  return offset;
}

}  // namespace aoe::compiler
