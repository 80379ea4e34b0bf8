// The flags about gears: --dynamic_batch_size="1,4", --dynamic_image_size="32,32;64,48",
// --dynamic_dims="1,16;2,32", each together with the -1 of --input_shape.
#include <algorithm>

#include "base/error.h"
#include "base/to_number.h"
#include "graph/import/gears.h"
#include "graph/import/input_shapes.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kImageRank = 4;
constexpr std::size_t kHeightAxis = 2;

const char* example(GearKind kind) {
  switch (kind) {
    case GearKind::kBatch:
      return "--input_shape=\"data:-1,3,224,224\" --dynamic_batch_size=\"1,4,8\"";
    case GearKind::kImage:
      return "--input_shape=\"data:1,3,-1,-1\" --dynamic_image_size=\"224,224;320,240\"";
    case GearKind::kDims:
      break;
  }
  return "--input_shape=\"ids:-1,-1\" --dynamic_dims=\"1,64;4,128\"";
}

[[noreturn]] void fail(GearKind kind, const std::string& flag, const std::string& what) {
  throw Error(ExitCode::kUsage, what, flag, std::string("write it like ") + example(kind));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end < text.size(); begin = end + 1) {
    end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end + 1 == text.size()) parts.emplace_back();  // nothing behind the last separator
  }
  return parts;
}

std::int64_t read_size(GearKind kind, const std::string& word) {
  const auto size = to_number<std::int64_t>(word);
  if (!size || *size < 1) fail(kind, gear_flag(kind), "'" + word + "' is no size");
  return *size;
}

std::vector<GearValues> read_values(GearKind kind, const std::string& text) {
  std::vector<GearValues> gears;
  for (const std::string& gear : split(text, kind == GearKind::kBatch ? ',' : ';')) {
    GearValues& values = gears.emplace_back();
    for (const std::string& word : split(gear, ',')) values.push_back(read_size(kind, word));
    if (values.empty()) fail(kind, gear_flag(kind), "a gear has no size");
    if (std::ranges::count(gears, values) > 1)
      fail(kind, gear_flag(kind), gear_text(values) + " is given twice");
  }
  if (gears.size() < kLeastGears || gears.size() > kMostGears)
    fail(kind, gear_flag(kind),
         std::to_string(gears.size()) + " gears, of " + std::to_string(kLeastGears) + " to " +
             std::to_string(kMostGears));
  return gears;
}

std::vector<std::size_t> open_axes(const Shape& shape) {
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == kUnknownDim) axes.push_back(axis);
  return axes;
}

/// Where -1 may stand, by kind.
void check_open_axes(GearKind kind, const std::string& input, const Shape& shape) {
  const std::vector<std::size_t> axes = open_axes(shape);
  const std::string where = "--input_shape, input '" + input + "'";
  if (axes.empty() || kind == GearKind::kDims) return;
  if (kind == GearKind::kBatch && axes != std::vector<std::size_t>{0})
    fail(kind, where, "batch gears are for the first dimension only");
  const std::vector<std::size_t> image = {kHeightAxis, kHeightAxis + 1};
  if (kind == GearKind::kImage && (shape.size() != kImageRank || axes != image))
    fail(kind, where, "image gears are for height and width of an NCHW input, both -1");
}

void check_value_counts(const GearRequest& request, std::size_t open) {
  const std::size_t wanted = request.kind == GearKind::kBatch   ? 1
                             : request.kind == GearKind::kImage ? 2
                                                                : open;
  for (const GearValues& values : request.values)
    if (values.size() != wanted)
      fail(request.kind, gear_flag(request.kind),
           "gear " + gear_text(values) + " has " + std::to_string(values.size()) +
               " sizes instead of " + std::to_string(wanted) +
               (request.kind == GearKind::kDims ? ", one for each -1 of --input_shape" : ""));
}

}  // namespace

std::string gear_flag(GearKind kind) {
  switch (kind) {
    case GearKind::kBatch:
      return "--dynamic_batch_size";
    case GearKind::kImage:
      return "--dynamic_image_size";
    case GearKind::kDims:
      break;
  }
  return "--dynamic_dims";
}

GearRequest parse_gears(GearKind kind, const std::string& values, const std::string& input_shapes) {
  GearRequest request{kind, read_values(kind, values), parse_open_input_shapes(input_shapes)};
  std::size_t open = 0;
  for (const auto& [input, shape] : request.input_shapes) {
    check_open_axes(kind, input, shape);
    open += open_axes(shape).size();
  }
  if (open == 0)
    fail(kind, "--input_shape", "no dimension is -1, for " + gear_flag(kind) + " to fill in");
  check_value_counts(request, open);
  return request;
}

std::map<std::string, Shape> input_shapes_of(const GearRequest& request, std::size_t gear) {
  const GearValues& values = request.values.at(gear);
  std::map<std::string, Shape> shapes;
  std::size_t next = 0;  // of kDims, over all inputs
  for (const auto& [input, open] : request.input_shapes) {
    Shape shape = open;
    for (const std::size_t axis : open_axes(open))
      shape[axis] = request.kind == GearKind::kBatch   ? values[0]
                    : request.kind == GearKind::kImage ? values[axis - kHeightAxis]
                                                       : values[next++];
    shapes.emplace(input, std::move(shape));
  }
  return shapes;
}

}  // namespace aoe::graph
