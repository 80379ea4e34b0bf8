// Random calls of LSTM, GRU and RNN in all their forms, and of losses.
#include "tests/native/draw.h"

namespace aoe::native {
namespace {

/// What the model says of one of the three.
struct Cell {
  std::int64_t gates;
  std::size_t functions;  ///< of a direction
};

void set_functions(Draw& draw, std::size_t count, reference::Attrs& attrs) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(draw.one_of<std::string>(
        {"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Affine", "Softsign", "LeakyRelu", "Elu"}));
  attrs.set("activations", names);
  attrs.set("activation_alpha", std::vector<float>(count, 0.3f));
  attrs.set("activation_beta", std::vector<float>(count, 0.2f));
}

RandomCall draw_recurrence(Draw& draw, const std::string& type, const Cell& cell) {
  const bool is_long = draw.chance(5);  // so that factors are packed
  const std::int64_t steps = is_long ? 64 : draw.in(0, 6), batch = draw.in(is_long ? 4 : 0, 9),
                     input = draw.in(1, 20),
                     hidden = draw.chance(20) ? draw.in(30, 70) : draw.in(1, 20);
  const auto direction = draw.one_of<std::string>({"forward", "reverse", "bidirectional"});
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const bool is_batch_first = draw.chance(30);
  const DataType dtype = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = type, .version = 7},
                   .tolerance = dtype == DataType::kFloat ? 2e-5 : 1e-12};
  reference::Attrs& attrs = drawn.call.attrs;
  attrs.set("hidden_size", hidden);
  attrs.set("direction", direction);
  attrs.set("layout", std::int64_t{is_batch_first});
  attrs.set(type == "DynamicRNN" ? "input_forget" : "linear_before_reset", draw.in(0, 1));
  if (draw.chance(30)) attrs.set("clip", 0.8f);
  if (draw.chance(30)) set_functions(draw, cell.functions * directions, attrs);
  const auto some = [&](Shape shape) { return numbers(draw, dtype, std::move(shape), -0.4, 0.4); };
  const auto maybe = [&](Shape shape) -> ConstantPtr {
    return draw.chance(50) ? some(std::move(shape)) : nullptr;
  };
  const Shape state =
      is_batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch));
  for (std::int64_t& length : lengths) length = draw.in(0, steps);
  drawn.inputs = {some(is_batch_first ? Shape{batch, steps, input} : Shape{steps, batch, input}),
                  some({directions, cell.gates * hidden, input}),
                  some({directions, cell.gates * hidden, hidden}),
                  maybe({directions, 2 * cell.gates * hidden}),
                  draw.chance(40) ? ints(lengths, DataType::kInt32) : nullptr,
                  maybe(state)};
  drawn.outputs = type == "DynamicRNN" ? 3 : 2;
  if (type != "DynamicRNN") return drawn;
  drawn.inputs.push_back(maybe(state));
  drawn.inputs.push_back(maybe({directions, 3 * hidden}));
  return drawn;
}

RandomCall draw_nll_loss(Draw& draw) {
  const std::int64_t batch = draw.in(1, 5), classes = draw.in(1, 9);
  const DataType type = draw.one_of({DataType::kFloat, DataType::kDouble});
  RandomCall drawn{.call = {.type = "NLLLoss", .version = 12}, .tolerance = 1e-6};
  drawn.call.attrs.set("reduction", draw.one_of<std::string>({"none", "sum", "mean"}));
  if (draw.chance(50)) drawn.call.attrs.set("ignore_index", draw.in(-1, classes - 1));
  Shape scores = {batch, classes}, labels = {batch};
  for (std::int64_t i = draw.in(0, 2); i > 0; --i) {
    scores.push_back(draw.in(1, 9));
    labels.push_back(scores.back());
  }
  const DataType index = index_type(draw);
  drawn.inputs = {numbers(draw, type, scores), made(index, labels, [&] {
                    return static_cast<double>(draw.in(0, classes - 1));
                  })};
  if (draw.chance(50)) drawn.inputs.push_back(numbers(draw, type, {classes}, 0.1, 2));
  return drawn;
}

}  // namespace

void add_recurrent_drawers(Drawers& drawers) {
  for (const auto& [type, cell] : {std::pair<std::string, Cell>{"DynamicRNN", {4, 3}},
                                   {"DynamicGRUV2", {3, 2}},
                                   {"CommonRNN", {1, 1}}})
    drawers[type] = [type, cell](Draw& draw) { return draw_recurrence(draw, type, cell); };
  drawers["NLLLoss"] = draw_nll_loss;
}

}  // namespace aoe::native
