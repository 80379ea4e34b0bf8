// CropAndResize of com.microsoft: boxes of images brought to one size. What a pixel of a crop reads lies at a place of its
// row times one of its column; all channels of a place are one row of a table, which Gather copies.
#include <array>
#include <optional>

#include "graph/import/function_call.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

/// Along one axis of the crops, each (boxes, pixels): whether a pixel reads an image, where, and what it makes of that.
struct CropSide {
  Term is_inside;
  Term near, far;  ///< int64
  Term share;      ///< of the far one
};

/// The same for a computed number of pixels, a scalar of int64.
Term computed_crop_places(FunctionCall& call, Term begin, Term end, std::int64_t extent,
                          Term pixels) {
  const auto last = static_cast<double>(extent - 1);
  const auto number = [&](double value) { return call.number(value, DataType::kInt64); };
  const Term before = pixels + -1.0;
  const Term steps = call.op("Max", {before, number(1)});
  const Term step = (end - begin) * last / call.cast(steps, DataType::kFloat);
  const Term numbers = call.reshape(call.op("Range", {number(0), pixels, number(1)}), {1, -1});
  const Term inner = begin * last + call.cast(numbers, DataType::kFloat) * step;
  const Term places = call.op("Where", {call.op("Equal", {numbers, before}), end * last, inner});
  return call.op("Where",
                 {call.op("Equal", {pixels, number(1)}), (begin + end) * (0.5 * last), places});
}

/// How many pixels crops have along an axis.
struct CropSize {
  std::optional<std::int64_t> known;
  Term computed;
};

/// From `begin` to `end`, columns of the boxes whose unit is the image; of one pixel, their middle.
Term crop_places(FunctionCall& call, Term begin, Term end, std::int64_t extent,
                 std::int64_t pixels) {
  const auto last = static_cast<double>(extent - 1);
  if (pixels == 1) return (begin + end) * (0.5 * last);
  std::vector<float> steps;
  for (std::int64_t i = 0; i + 1 < pixels; ++i) steps.push_back(static_cast<float>(i));
  const Term step =
      (end - begin) * last / call.number(static_cast<double>(pixels - 1), DataType::kFloat);
  const Term inner = begin * last + call.floats({1, pixels - 1}, steps) * step;
  return call.concat({inner, end * last}, 1);  // the last one exactly, however steps are rounded
}

CropSide crop_side(FunctionCall& call, Term boxes, std::int64_t axis, std::int64_t extent,
                   const CropSize& pixels, bool is_nearest) {
  const Term begin = call.slice(boxes, 1, axis, axis + 1),
             end = call.slice(boxes, 1, axis + 2, axis + 3);
  CropSide side;
  const Term place = pixels.known ? crop_places(call, begin, end, extent, *pixels.known)
                                  : computed_crop_places(call, begin, end, extent, pixels.computed);
  const auto number = [&](double value) { return call.number(value, DataType::kFloat); };
  side.is_inside =
      call.op("And", {call.op("GreaterOrEqual", {place, number(0)}),
                      call.op("LessOrEqual", {place, number(static_cast<double>(extent - 1))})});
  const Term inside = call.op("Where", {side.is_inside, place, number(0)});
  const Term floor = call.op("Floor", {is_nearest ? inside + 0.5 : inside});
  side.near = call.cast(floor, DataType::kInt64);
  if (is_nearest) return side;
  side.far = call.cast(call.op("Ceil", {inside}), DataType::kInt64);
  side.share = inside - floor;
  return side;
}

/// (boxes, pixels) as (boxes, rows, columns, 1), of which one is 1.
Term along_rows(Term value) {
  return value.call->op("Unsqueeze", {value, value.call->ints({2, 3})});
}
Term along_columns(Term value) {
  return value.call->op("Unsqueeze", {value, value.call->ints({1, 3})});
}

/// The images as (pixels of all, channels), read at rows and columns of the boxes' own images.
class PixelTable {
 public:
  PixelTable(FunctionCall& call, Term x, Term images) : call_(call), x_(x) {
    table_ = call.reshape(call.transpose(x, {0, 2, 3, 1}), {-1, call.dim(x, 1)});
    const Term image = call.cast(images, DataType::kInt64);
    first_ = call.reshape(image, {-1, 1, 1}) * static_cast<double>(call.dim(x, 2));
  }

  /// (boxes, rows, columns, channels)
  Term at(Term rows, Term columns) const {
    const Term row = first_ + call_.op("Unsqueeze", {rows, call_.ints({2})});
    const Term place = row * static_cast<double>(call_.dim(x_, 3)) +
                       call_.op("Unsqueeze", {columns, call_.ints({1})});
    return call_.op("Gather", {table_, place});
  }

 private:
  FunctionCall& call_;
  Term x_, table_, first_;
};

Term between(Term near, Term far, Term share) {
  return near + (far - near) * share;
}

/// Along rows and columns, as input 3 says.
std::array<CropSize, 2> crop_sizes(FunctionCall& call) {
  const Term size = call.input(3);
  if (call.known(size) == nullptr) {
    const Term all = call.cast(size, DataType::kInt64);
    const auto pixels = [&](std::int64_t i) {
      return CropSize{{}, call.reshape(call.slice(all, 0, i, i + 1), {})};
    };
    return {pixels(0), pixels(1)};
  }
  constexpr std::int64_t kMostPixels = 1 << 20;
  const std::vector<std::int64_t> known = call.known_ints(size);
  if (known.size() != 2 || known[0] < 1 || known[1] < 1)
    reference::fail_model("needs a size of two numbers");
  if (known[0] > kMostPixels || known[1] > kMostPixels)
    throw NotExpressible{"its crops are too large"};
  return {CropSize{known[0], {}}, CropSize{known[1], {}}};
}

void expand_crop_and_resize(FunctionCall& call) {
  const std::string mode = call.attrs().get_string("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") throw NotExpressible{"its mode is " + mode};
  const Term x = call.input(0), boxes = call.input(1);
  const std::array<CropSize, 2> size = crop_sizes(call);
  if (call.rank(x) != 4 || call.rank(boxes) != 2 || call.dim(boxes, 1) != 4 ||
      call.rank(call.input(2)) != 1)
    reference::fail_model("needs images of four axes and boxes of four numbers");
  if (call.dtype(x) != DataType::kFloat || call.dtype(boxes) != DataType::kFloat)
    throw NotExpressible{"its images or boxes are not float32"};
  const std::int64_t height = call.dim(x, 2), width = call.dim(x, 3);
  if (height < 1 || width < 1) reference::fail_model("its images have no pixels");
  const bool is_nearest = mode == "nearest";
  const CropSide rows = crop_side(call, boxes, 0, height, size[0], is_nearest),
                 columns = crop_side(call, boxes, 1, width, size[1], is_nearest);
  const PixelTable table(call, x, call.input(2));
  Term y = table.at(rows.near, columns.near);
  if (!is_nearest) {
    const Term share = along_columns(columns.share);
    const Term top = between(y, table.at(rows.near, columns.far), share),
               bottom = between(table.at(rows.far, columns.near), table.at(rows.far, columns.far),
                                share);
    y = between(top, bottom, along_rows(rows.share));
  }
  const Term is_inside =
      call.op("And", {along_rows(rows.is_inside), along_columns(columns.is_inside)});
  const auto outside = static_cast<double>(call.attrs().get_float("extrapolation_value", 0));
  y = call.op("Where", {is_inside, y, call.number(outside, DataType::kFloat)});
  call.give(0, call.transpose(y, {0, 3, 1, 2}));
}

}  // namespace

void register_crop_and_resize(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "CropAndResize", expand_crop_and_resize});
}

}  // namespace aoe::graph
