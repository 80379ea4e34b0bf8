// SliceLengths: which nodes can be carried out slice by slice (reference/slicing.h) where only a run knows sizes, and which of them have
// equally many slices. One dimension alone may be open, wherever it lies; or several that follow each other, and a slice is then one
// combination of their places.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "reference/windows/window.h"

namespace aoe::graph {

/// Along what values are sliced.
struct SliceAxes {
  static constexpr int kAnywhere = -1;
  int dims = 1;
  int behind =
      kAnywhere;  ///< dimensions that follow the sliced ones in every value; kAnywhere: its one open dimension
  auto operator<=>(const SliceAxes&) const = default;
};

/// Axes first to last.
struct OpenAxes {
  int first, last;
  bool operator==(const OpenAxes&) const = default;
};
/// The dimensions that are not known and those in between; nullopt: there are none, or one is empty.
std::optional<OpenAxes> open_axes(const TensorDesc& desc);

/// Of a value that is no constant: the last of the axes along which it is sliced. nullopt: each slice reads all of it.
std::optional<int> sliced_axis(const TensorDesc& desc, const SliceAxes& axes);

/// The node's one result has each element computed from those beside it, whatever its attributes say.
bool is_elementwise(const Node& node);

/// Each of the values that `axes` slices has the same numbers of places, known or as names, which are below what shapes are made of.
struct SliceLength {
  SliceAxes axes;
  Shape places;
  auto operator<=>(const SliceLength&) const = default;
};

struct ImageWindow;

class SliceLengths {
 public:
  explicit SliceLengths(const Graph& graph);

  /// To be called for all nodes in order. How the node can be sliced; nullopt: it cannot.
  std::optional<SliceLength> add(const Node& node);

 private:
  std::optional<SliceLength> along_one(const Node& node) const;
  std::optional<SliceLength> along_several(const Node& node) const;
  Shape places_of(const Node& node, std::size_t output, bool is_sliced);
  Shape broadcast(const Node& node, const Shape& output);
  Shape behind_window(const Node& node, const ImageWindow& window);
  std::int64_t name_behind(const reference::WindowAxis& axis, std::int64_t place);
  Shape named(Shape shape);

  const Graph& graph_;
  std::vector<Shape>
      places_;  ///< by value: its shape with a name for each dimension that is not known
  std::int64_t next_name_;
  std::map<std::array<std::int64_t, 3>, std::int64_t>
      behind_windows_;  ///< names, by that in front, stride, and what padding adds less a window's reach
};

}  // namespace aoe::graph
