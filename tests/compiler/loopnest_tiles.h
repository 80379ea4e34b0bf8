// Tiles in the interpreter of loop nests (loopnest_eval.h).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>

#include "base/check.h"
#include "compiler/loopnest/loopnest.h"
#include "tests/compiler/loopnest_dot.h"
#include "tests/compiler/loopnest_memory.h"

namespace aoe::compiler::loopnest {

class EvalTiles {
 public:
  EvalTiles(const Function& function, EvalMemory& memory) : function_(function), memory_(memory) {}

  /// `index` of a load or store.
  void run(const StmtNode& s, std::int64_t index) {
    switch (s.tile) {
      case TileOp::kShapes:
        for (std::size_t i = 0; i < tiles_.size(); ++i)
          tiles_[i] = {.shape = i < s.shapes.size() ? s.shapes[i] : TileShape{0, 0}};
        return;
      case TileOp::kZero:
        tile(s, 0).words = {};
        return;
      case TileOp::kLoad:
        return each_word(s, index,
                         [&](std::int32_t& word, std::int64_t at) { word = load(s, at); });
      case TileOp::kStore:
        return each_word(s, index, [&](std::int32_t word, std::int64_t at) {
          is_float(s) ? memory_.store(s.id, at, std::bit_cast<float>(word))
                      : memory_.store(s.id, at, word);
        });
      case TileOp::kDot:
        return s.type == Type::kBfloat16 ? dot<BFloat16, BFloat16, float>(s)
                                         : dot<std::uint8_t, std::int8_t, std::int32_t>(s);
    }
  }

 private:
  struct Tile {
    TileShape shape = {0, 0};
    std::array<std::array<std::int32_t, 16>, 16> words = {};
    std::int32_t& at(int row, int word) {
      return words[static_cast<std::size_t>(row)][static_cast<std::size_t>(word)];
    }
  };

  Tile& tile(const StmtNode& s, std::size_t number) {
    Tile& found = tiles_.at(static_cast<std::size_t>(s.tiles.at(number)));
    AOE_CHECK(found.shape.rows > 0, "a tile without a shape");
    return found;
  }
  DataType dtype(const StmtNode& s) const { return elements(s).dtype; }
  const Elements& elements(const StmtNode& s) const {
    return function_.buffers[static_cast<std::size_t>(s.id)].elements;
  }
  bool is_float(const StmtNode& s) const { return dtype(s) == DataType::kFloat; }

  std::int32_t load(const StmtNode& s, std::int64_t at) {
    if (elements(s).bytes() == 4) return memory_.element<std::int32_t>(s.id, at);
    std::array<std::uint8_t, 4> bytes{};
    for (std::uint8_t& byte : bytes) byte = memory_.element<std::uint8_t>(s.id, at++);
    return std::bit_cast<std::int32_t>(bytes);
  }

  void each_word(const StmtNode& s, std::int64_t index,
                 const std::function<void(std::int32_t&, std::int64_t)>& visit) {
    Tile& t = tile(s, 0);
    const std::int64_t of_word = 4 / elements(s).bytes();
    for (int row = 0; row < t.shape.rows; ++row)
      for (int word = 0; word < t.shape.words; ++word)
        visit(t.at(row, word), index + row * s.step + word * of_word);
  }

  template <typename A, typename B, typename Sum>
  void dot(const StmtNode& s) {
    const auto multiply = [](std::int32_t a, std::int32_t b, std::int32_t word) {
      const auto x = std::bit_cast<std::array<A, 4 / sizeof(A)>>(a);
      const auto y = std::bit_cast<std::array<B, 4 / sizeof(B)>>(b);
      return std::bit_cast<std::int32_t>(
          loopnest::dot(x.data(), y.data(), std::bit_cast<Sum>(word)));
    };
    Tile &sum = tile(s, 0), &a = tile(s, 1), &b = tile(s, 2);
    AOE_CHECK(sum.shape.rows == a.shape.rows && sum.shape.words == b.shape.words &&
                  a.shape.words == b.shape.rows,
              "tiles of shapes that do not go together");
    for (int m = 0; m < sum.shape.rows; ++m)
      for (int k = 0; k < a.shape.words; ++k)
        for (int n = 0; n < sum.shape.words; ++n)
          sum.at(m, n) = multiply(a.at(m, k), b.at(k, n), sum.at(m, n));
  }

  const Function& function_;
  EvalMemory& memory_;
  std::array<Tile, 8> tiles_;
};

}  // namespace aoe::compiler::loopnest
