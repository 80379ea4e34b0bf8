// Gears: the few sizes that one dynamic model serves, each compiled for itself. What they are called in flags, in the om
// and in messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aoe {

enum class GearKind : int {
  kBatch,  ///< `--dynamic_batch_size`: the first dimension
  kImage,  ///< `--dynamic_image_size`: height and width of images
  kDims,   ///< `--dynamic_dims`: any dimensions
};
/// "batch", "image", "dims"
std::string_view name(GearKind kind);
std::optional<GearKind> gear_kind_from_name(std::string_view name);

/// What distinguishes one gear: {N}, {H, W}, or one size for each -1 of `--input_shape`, in the flag's order.
using GearValues = std::vector<std::int64_t>;
/// "4", "32,48"
std::string gear_text(const GearValues& values);
/// "gear[32,48]:": in front of the names of this gear where all gears are one graph.
std::string gear_prefix(const GearValues& values);

inline constexpr std::size_t kLeastGears = 2;
inline constexpr std::size_t kMostGears = 100;

struct Gears {
  GearKind kind = GearKind::kBatch;
  std::vector<GearValues> values;  ///< by gear, all different; empty: the model has one shape only
  /// By model input: the axes that gears may change, ascending.
  std::vector<std::vector<int>> dynamic_axes;

  bool empty() const { return values.empty(); }
  std::size_t count() const { return values.size(); }
  std::optional<std::size_t> find(const GearValues& wanted) const;
  bool operator==(const Gears&) const = default;
};

/// "batch sizes 1, 4, 8"; "image sizes 32,32; 64,48"; "dims 1,16; 2,32"
std::string to_string(const Gears& gears);

}  // namespace aoe
