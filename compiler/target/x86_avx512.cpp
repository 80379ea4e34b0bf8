// All of x86-64-v4, and the instructions of AVX512-BF16 and AMX.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <array>

#include "compiler/target/x86.h"

namespace aoe::compiler {
namespace {

using llvm::Value;

class Avx512 final : public X86 {
 public:
  Avx512() : X86("avx512", {.bytes = 64, .registers = 32}) {}

  Value* pack_bf16(llvm::IRBuilderBase& ir, Value* low, Value* high) const override {
    return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {},
                              {high, low});  // the second operand gives the low half
  }

  Value* dot_bf16(llvm::IRBuilderBase& ir, Value* a, Value* b, Value* sum) const override {
    return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {}, {sum, a, b});
  }

  /// The operand of LDTILECFG is a constant of the module.
  void tile_shapes(llvm::IRBuilderBase& ir, std::span<const TileShape> shapes) const override {
    constexpr std::size_t kRowBytes = 16, kRows = 48;  // where they stand, two bytes and one a tile
    std::array<std::uint8_t, 64> bytes{1};             // palette 1
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      bytes[kRowBytes + 2 * i] = static_cast<std::uint8_t>(shapes[i].row_bytes);
      bytes[kRows + i] = static_cast<std::uint8_t>(shapes[i].rows);
    }
    llvm::Constant* value = llvm::ConstantDataArray::get(ir.getContext(), bytes);
    auto* shapes_at = new llvm::GlobalVariable(  // the module's
        *ir.GetInsertBlock()->getModule(), value->getType(), true,
        llvm::GlobalValue::PrivateLinkage, value, "tiles");
    shapes_at->setAlignment(llvm::Align(64));
    ir.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {shapes_at});
  }
  void tile_zero(llvm::IRBuilderBase& ir, int tile) const override {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {number(ir, tile)});
  }
  void tile_load(llvm::IRBuilderBase& ir, int tile, Value* address,
                 std::int64_t stride) const override {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                       {number(ir, tile), address, bytes_apart(ir, stride)});
  }
  void tile_store(llvm::IRBuilderBase& ir, int tile, Value* address,
                  std::int64_t stride) const override {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                       {number(ir, tile), address, bytes_apart(ir, stride)});
  }
  void tile_dot_bf16(llvm::IRBuilderBase& ir, int sum, int a, int b) const override {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tdpbf16ps, {},
                       {number(ir, sum), number(ir, a), number(ir, b)});
  }
  void tile_dot_u8s8(llvm::IRBuilderBase& ir, int sum, int a, int b) const override {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tdpbusd, {},
                       {number(ir, sum), number(ir, a), number(ir, b)});
  }
  void release_tiles(llvm::IRBuilderBase& ir) const override {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
  }

 private:
  static Value* number(llvm::IRBuilderBase& ir, int tile) {
    return ir.getInt8(static_cast<std::uint8_t>(tile));
  }
  static Value* bytes_apart(llvm::IRBuilderBase& ir, std::int64_t stride) {
    return ir.getInt64(static_cast<std::uint64_t>(stride));
  }
};

}  // namespace

const Target& x86_avx512() {
  static const Avx512 target;
  return target;
}

}  // namespace aoe::compiler
