// Calls of DFT and STFT, of lengths with and without large prime factors. See draw.h.
#include "reference/products/fourier.h"
#include "tests/native/draw.h"

namespace aoe::native {
namespace {

std::int64_t draw_length(Draw& draw) {
  return draw.chance(60) ? draw.in(1, 40)
                         : draw.one_of<std::int64_t>(
                               {64, 67, 81, 100, 121, 122, 127, 128, 134, 189, 210, 243, 256, 360});
}

double sum_rounding(DataType type) {
  return type == DataType::kDouble ? 1e-13 : 1e-6;
}

RandomCall draw_dft(Draw& draw) {
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  const bool is_new = draw.chance(70), is_inverse = draw.chance(40), is_onesided = draw.chance(40);
  RandomCall drawn{
      .call = {.type = "DFT", .version = is_new ? reference::kDftAxisInputVersion : 17},
      .tolerance = sum_rounding(type)};
  drawn.call.attrs.set("inverse", std::int64_t{is_inverse});
  drawn.call.attrs.set("onesided", std::int64_t{is_onesided});
  Shape shape;
  for (std::int64_t i = draw.in(1, 3); i > 0; --i) shape.push_back(draw.in(1, 11));
  const std::int64_t axis = draw.in(0, std::ssize(shape) - 1);
  at_axis(shape, axis) = draw_length(draw) + (is_inverse && is_onesided ? 1 : 0);
  shape.push_back(is_inverse && is_onesided ? 2 : draw.in(1, 2));
  const std::int64_t given = draw.chance(50) ? axis : axis - std::ssize(shape);
  if (!is_new) drawn.call.attrs.set("axis", given);
  drawn.inputs = {numbers(draw, type, shape), nullptr, nullptr};
  if (draw.chance(40))
    drawn.inputs[1] = scalar(static_cast<double>(draw_length(draw)), index_type(draw));
  if (is_new) drawn.inputs[2] = scalar(static_cast<double>(given), DataType::kInt64);
  return drawn;
}

RandomCall draw_stft(Draw& draw) {
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  const std::int64_t length = draw_length(draw);
  RandomCall drawn{.call = {.type = "STFT", .version = 17}, .tolerance = sum_rounding(type)};
  const std::int64_t parts = draw.in(1, 2);
  if (draw.chance(70)) drawn.call.attrs.set("onesided", parts == 1 ? draw.in(0, 1) : 0);
  drawn.inputs = {numbers(draw, type, {draw.in(1, 3), length + draw.in(0, 100), parts}),
                  scalar(static_cast<double>(draw.in(1, 30)), index_type(draw)),
                  draw.chance(60) ? numbers(draw, type, {length}) : nullptr, nullptr};
  if (drawn.inputs[reference::kWindow] == nullptr || draw.chance(50))
    drawn.inputs[reference::kFrameLength] = scalar(static_cast<double>(length), index_type(draw));
  return drawn;
}

}  // namespace

void add_fourier_drawers(Drawers& drawers) {
  drawers["DFT"] = draw_dft;
  drawers["STFT"] = draw_stft;
}

}  // namespace aoe::native
