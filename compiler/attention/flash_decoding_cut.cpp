// The arithmetic of the tiling of attention for few queries.
#include <algorithm>

#include "compiler/attention/attention_nest.h"
#include "compiler/attention/flash_decoding_nest.h"
#include "compiler/emit/block_cycles.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

constexpr double kLaneSumCycles = 2;  ///< of a vector whose lanes are added up, with 15 others

std::int64_t heads_sharing_keys(const reference::AttentionShape& shape) {
  std::int64_t heads = 1;
  for (std::size_t d = shape.batch.size(); d-- > 0;) {
    if (shape.key.batch[d] != 0 || shape.value.batch[d] != 0) break;
    heads *= shape.batch[d];
  }
  return heads;
}

}  // namespace

DecodingCut::DecodingCut(const reference::AttentionShape& shape, int lanes,
                         const DecodingTiling& tiling)
    : shape_(shape), lanes_(lanes), tiling_(tiling), sharing_(heads_sharing_keys(shape)) {
}

std::int64_t DecodingCut::chunk_keys() const {
  return round_up(ceil_div(shape_.keys, tiling_.chunks), lanes_);
}

std::int64_t DecodingCut::value_vectors() const {
  return ceil_div(shape_.value_depth, lanes_);
}

std::int64_t DecodingCut::scratch_bytes() const {
  const std::int64_t floats = rows() * (round_up(shape_.depth, lanes_) + chunk_keys() + 2 * lanes_);
  return floats * std::int64_t{sizeof(float)};
}

std::int64_t DecodingCut::body_fmas() const {
  const std::int64_t scores = 2 * rows() * lanes_ * ceil_div(shape_.depth, lanes_);
  return scores + rows() * value_vectors() * (tiling_.key_unroll + 1);
}

double DecodingCut::core_cycles() const {
  const auto r = static_cast<double>(rows()), keys = static_cast<double>(shape_.keys),
             depth = static_cast<double>(ceil_div(shape_.depth, lanes_));
  const std::int64_t bytes = lanes_ * std::int64_t{sizeof(float)};
  const double scores = block_cycles(bytes, r * depth, r * depth, depth, 1) + r * kLaneSumCycles;
  const double weights = r * kWeightCycles / lanes_;
  double products = 0;
  for (std::int64_t done = 0; done < value_vectors(); done += tiling_.v_vectors) {
    const auto v = static_cast<double>(std::min(tiling_.v_vectors, value_vectors() - done));
    products += block_cycles(bytes, r * v, r, v, 1);
  }
  return static_cast<double>(groups()) * keys * (scores + weights + products);
}

}  // namespace aoe::compiler
