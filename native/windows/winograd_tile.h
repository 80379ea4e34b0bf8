// The numbers of F(4x4, 3x3), for those who compute by tiles (winograd_convolution.h, tiled_channels.h).
#pragma once

#include <cstdint>

namespace aoe::native::winograd {

inline constexpr std::int64_t kTileSide = 4;                        ///< of a tile of outputs
inline constexpr std::int64_t kInputSide = 6;                       ///< of what it reads
inline constexpr std::int64_t kProducts = kInputSide * kInputSide;  ///< products of a tile
/// Elements behind the matrix of a point: those of all points would share a set of the cache.
inline constexpr std::int64_t kGap = 16;

}  // namespace aoe::native::winograd
