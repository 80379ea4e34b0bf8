// Calls of convolutions of bytes over images whose channels come last. See draw.h.
#include "tests/native/draw.h"

namespace aoe::native {
namespace {

/// Depthwise ones, those that read planes, and padding that is wider than the window.
RandomCall draw_geometry_of_bytes(Draw& draw) {
  const bool is_depthwise = draw.chance(50);
  const std::int64_t in = draw.chance(10)   ? 3
                          : draw.chance(40) ? draw.in(16, 150)
                                            : draw.in(1, 20),
                     out = is_depthwise      ? in
                           : draw.chance(30) ? draw.in(60, 140)
                                             : draw.in(1, 40);
  RandomCall drawn{.call = {.type = "NhwcQuantConv2D"}};
  reference::Attrs& attrs = drawn.call.attrs;
  attrs.set("group", is_depthwise ? in : 1);
  attrs.set("strides", std::vector<std::int64_t>{draw.in(1, 3), draw.in(1, 3)});
  if (draw.chance(20))
    attrs.set("dilations", std::vector<std::int64_t>{draw.in(1, 2), draw.in(1, 3)});
  std::vector<std::int64_t> pads;
  const std::int64_t most = draw.chance(30) ? 0 : draw.chance(15) ? 7 : 2;
  for (int i = 0; i < 4; ++i) pads.push_back(draw.in(0, most));
  attrs.set("pads", pads);
  const bool is_small = draw.chance(30);
  const Shape weight = {out, is_depthwise ? 1 : in, is_small ? 1 : draw.in(1, 6),
                        is_small ? 1 : draw.in(1, 7)};
  const std::int64_t images = draw.in(0, 2), height = draw.in(11, 16),
                     width = draw.chance(15) ? draw.in(60, 150) : draw.in(19, 30);
  const bool reads_planes = !is_depthwise && draw.chance(40);
  if (reads_planes) attrs.set("reads_planes", std::int64_t{1});
  const DataType x = draw.one_of({DataType::kInt8, DataType::kUint8}),
                 w = draw.one_of({DataType::kInt8, DataType::kUint8});
  const Shape image =
      reads_planes ? Shape{images, in, height, width} : Shape{images, height, width, in};
  drawn.inputs = {numbers(draw, x, image, -128, 255), numbers(draw, w, weight, -128, 255)};
  return drawn;
}

}  // namespace

RandomCall draw_byte_image(Draw& draw) {
  RandomCall drawn = draw_geometry_of_bytes(draw);
  const DataType x = drawn.inputs[0]->desc().dtype, weight = drawn.inputs[1]->desc().dtype;
  const Shape channels = {drawn.inputs[1]->desc().shape[0]};
  const auto one_or_each = [&] { return draw.chance(50) ? channels : Shape{1}; };
  drawn.inputs.push_back(draw.chance(50) ? numbers(draw, DataType::kInt32, channels, -9000, 9000)
                                         : nullptr);
  drawn.inputs.push_back(draw.chance(70) ? zero_point(draw, x) : nullptr);
  drawn.inputs.push_back(draw.chance(40) ? numbers(draw, weight, one_or_each(), 0, 100) : nullptr);
  drawn.inputs.push_back(numbers(draw, DataType::kFloat, one_or_each(), 0.001, 0.1));
  return drawn;
}

void add_byte_image_drawers(Drawers& drawers) {
  drawers["NhwcQuantConv2D"] = draw_byte_image;
}

}  // namespace aoe::native
