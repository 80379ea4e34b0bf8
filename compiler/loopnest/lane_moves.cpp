#include "compiler/loopnest/lane_moves.h"

#include <llvm/ADT/SmallVector.h>

#include <numeric>

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

Value* shuffle(IrBuilder& ir, Value* a, Value* b, llvm::ArrayRef<int> lanes) {
  return ir.CreateShuffleVector(a, b, lanes);
}

/// Interleaves units of `unit` lanes of a and b inside each group of four lanes, taking the low or
/// the high half: unpcklps/unpckhps for unit 1, unpcklpd/unpckhpd for unit 2.
Value* unpack(IrBuilder& ir, Value* a, Value* b, int lanes, int unit, bool high) {
  llvm::SmallVector<int, 16> picks;
  for (int group = 0; group < lanes; group += 4) {
    for (int i = 0; i < 4; ++i) {
      const int source = (i / unit) % 2 == 0 ? 0 : lanes;
      const int lane = unit == 1 ? i / 2 : i % 2;
      picks.push_back(source + group + (high ? 2 : 0) + lane);
    }
  }
  return shuffle(ir, a, b, picks);
}

/// Groups of four lanes: group i of the result is group `group` of parts[i]. Halves the parts until
/// one is left.
Value* gather_group(IrBuilder& ir, std::vector<Value*> parts, int lanes, int group) {
  while (parts.size() > 1) {
    llvm::SmallVector<int, 16> picks;
    for (int source : {0, lanes}) {
      for (int g = group % 2; g < lanes / 4; g += 2) {
        for (int i = 0; i < 4; ++i) picks.push_back(source + g * 4 + i);
      }
    }
    std::vector<Value*> halved;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      halved.push_back(shuffle(ir, parts[i], parts[i + 1], picks));
    }
    parts = std::move(halved);
    group /= 2;
  }
  return parts[0];
}

}  // namespace

Value* emit_reduction(IrBuilder& ir, Value* x,
                      const std::function<Value*(Value*, Value*)>& combine) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr) return x;
  unsigned lanes = type->getNumElements();
  std::vector<Value*> odd;  // lanes that found no partner
  while (lanes > 1) {
    if (lanes % 2 == 1) odd.push_back(ir.CreateExtractElement(x, lanes - 1));
    const int half = static_cast<int>(lanes / 2);
    llvm::SmallVector<int, 16> low(static_cast<std::size_t>(half)), high(low.size());
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    x = combine(shuffle(ir, x, x, low), shuffle(ir, x, x, high));
    lanes /= 2;
  }
  Value* result = ir.CreateExtractElement(x, std::uint64_t{0});
  for (Value* lane : odd) result = combine(result, lane);
  return result;
}

Value* emit_transpose_row(IrBuilder& ir, const std::vector<Value*>& rows, int row) {
  const int n = static_cast<int>(rows.size());
  const auto at = [&](int i) { return rows[static_cast<std::size_t>(i)]; };
  if (n == 1) return at(0);
  if (n != 4 && n != 8 && n != 16) {
    Value* result = llvm::PoisonValue::get(at(0)->getType());
    for (int i = 0; i < n; ++i) {
      result = ir.CreateInsertElement(result, ir.CreateExtractElement(at(i), row), i);
    }
    return result;
  }
  // Column c of every group of four lanes for four rows at a time, then group row / 4 of each.
  // Written per row; common subexpression elimination leaves n log2(n) shuffles for the whole
  // transpose.
  const int column = row % 4;
  std::vector<Value*> fours;
  for (int i = 0; i < n; i += 4) {
    Value* low = unpack(ir, at(i), at(i + 1), n, 1, column >= 2);
    Value* high = unpack(ir, at(i + 2), at(i + 3), n, 1, column >= 2);
    fours.push_back(unpack(ir, low, high, n, 2, column % 2 == 1));
  }
  return gather_group(ir, fours, n, row / 4);
}

Value* emit_interleave(IrBuilder& ir, const std::vector<Value*>& rows, int part) {
  const int n = static_cast<int>(rows.size());
  if (!rows[0]->getType()->isVectorTy()) return rows[static_cast<std::size_t>(part)];
  const auto lanes =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements());
  Value* result = rows[0];
  for (int r = 0; r < n; ++r) {  // row by row into the lanes that are its turn
    llvm::SmallVector<int, 16> mask(static_cast<std::size_t>(lanes));
    for (int i = 0; i < lanes; ++i) {
      const int at = part * lanes + i;
      const bool is_its_turn = at % n == r;
      mask[static_cast<std::size_t>(i)] = is_its_turn ? lanes + at / n : i;
    }
    result = ir.CreateShuffleVector(result, rows[static_cast<std::size_t>(r)], mask);
  }
  return result;
}

}  // namespace aoe::compiler::loopnest
