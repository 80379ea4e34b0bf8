// WeightsSection: the constants of an om, packed by several threads, equal ones stored once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/tensor.h"

namespace aoe::compiler {

class WeightsSection {
 public:
  /// An item that `pack` writes, into zeroed 64-byte aligned memory; see PackedConstant in impl.h.
  /// Returns its index.
  std::size_t add(std::size_t size_bytes, std::function<void(void*)> pack);
  /// A constant as it is; the same one has one item.
  std::size_t add(const ConstantPtr& constant);

  /// Packs all items. The bytes of the section; afterwards offsets are known.
  std::string pack(int threads);
  std::uint64_t offset(std::size_t item) const { return items_[item].offset; }

 private:
  struct Item {
    std::size_t size_bytes = 0;
    std::function<void(void*)> pack;
    std::uint64_t offset = 0;
  };
  struct Packed;

  std::vector<Packed> pack_items(std::size_t begin, std::size_t end, int threads) const;
  std::uint64_t place(const Packed& packed, std::string& section);

  std::vector<Item> items_;
  std::map<const Constant*, std::size_t> whole_;
  std::multimap<Digest128, std::uint64_t> offsets_;  ///< by content, of what is in the section
};

}  // namespace aoe::compiler
