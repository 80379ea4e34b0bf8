// WeightsSection: the constants of an om, packed by several threads where they stay, equal ones stored once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/hash.h"
#include "base/tensor.h"
#include "compiler/cut_off.h"
#include "compiler/impl.h"

namespace aoe::compiler {

class WeightsSection {
 public:
  /// An item that `pack` writes, into zeroed 64-byte aligned memory; see PackedConstant in impl.h.
  /// Returns its index.
  std::size_t add(std::size_t size_bytes, std::function<void(void*)> pack);
  /// A constant as it is; the same one has one item.
  std::size_t add(const ConstantPtr& constant);

  /// Packs all items. The bytes of the section; afterwards offsets are known. Throws CutOff.
  AlignedBytes pack(int threads, const IsCutOff& is_cut_off = {});
  std::uint64_t offset(std::size_t item) const { return items_[item].offset; }
  /// Before they are packed.
  PackedConstant item(std::size_t item) const {
    return {items_[item].size_bytes, items_[item].pack};
  }

 private:
  struct Item {
    std::size_t size_bytes = 0;
    std::function<void(void*)> pack;
    std::uint64_t offset = 0;
  };
  /// An item where it was packed.
  struct Packed {
    std::uint64_t offset = 0;
    std::size_t size_bytes = 0;
    Digest128 digest;
  };

  std::vector<Packed> pack_items(std::size_t begin, std::size_t end, AlignedBytes& section,
                                 int threads, const IsCutOff& is_cut_off);
  std::uint64_t place(const Packed& packed, AlignedBytes& section, std::uint64_t& end);

  std::vector<Item> items_;
  std::map<const Constant*, std::size_t> whole_;
  std::multimap<Digest128, std::uint64_t> offsets_;  ///< by content, of what is in the section
};

}  // namespace aoe::compiler
