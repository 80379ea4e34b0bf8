// See random_control.h. A body is a draw of its own: what it draws as inputs are inputs of the model around it.
#include "tests/robustness/random_control.h"

#include "tests/robustness/random_nodes.h"

namespace aoe::tests {
namespace {

constexpr int kDeepest = 2;  ///< bodies within bodies

void add_control(ModelDraw& draw, int depth);

/// Random nodes, now and then with control flow among them.
void fill(ModelDraw& draw, std::int64_t nodes, int depth) {
  const std::int64_t wanted = draw.nodes() + nodes;
  for (int attempts = 0; draw.nodes() < wanted && attempts < 40; ++attempts) {
    if (depth < kDeepest && draw.one_in(6))
      add_control(draw, depth);
    else
      add_random_node(draw);
  }
}

/// A body in the making, and what becomes of its outputs.
class Body {
 public:
  Body(ModelDraw& outer, int depth) : draw(outer.inner()), depth_(depth) {}

  /// An output named anew, so that no name is given out twice.
  void give(Id id) {
    const Id copy = draw.pass_on(id);
    outputs_.push_back(copy);
    draw.declare_output(copy);
  }
  void fill_in() { fill(draw, draw.between(0, 3), depth_ + 1); }

  /// A value that a trip or branch may give out; fresh where nothing drawn will do.
  Id result() {
    return draw.one_in(5) ? draw.value({.types = {DataType::kInt64, DataType::kBool}})
                          : draw.value({.max_rank = 6});
  }
  const DrawnValue& output(std::size_t i) const { return draw.at(outputs_[i]); }
  std::size_t outputs() const { return outputs_.size(); }

  ModelDraw draw;

 private:
  int depth_;
  std::vector<Id> outputs_;
};

/// What an output of the node is, its shape aside.
DrawnValue like(const DrawnValue& inside, Shape shape, Exactness exactness) {
  DrawnValue value;
  value.desc = {.dtype = inside.desc.dtype, .shape = std::move(shape)};
  value.exactness = std::max(inside.exactness, exactness);
  return value;
}

Shape joined(Shape a, const Shape& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) a[i] = kUnknownDim;
  return a;
}

Id condition(ModelDraw& draw) {
  if (draw.one_in(2)) return draw.fresh(DataType::kBool, {}, false);
  const Id number = draw.fresh(DataType::kFloat, {}, false);
  const Id zero = draw.numbers(DataType::kFloat, {}, 0, 0);
  return draw.added("Less", {number, zero}, Exactness::kExact).value();
}

// ---- If ----

void add_if(ModelDraw& draw, int depth) {
  const Id decides = condition(draw);
  Body first(draw, depth), second(draw, depth);
  first.fill_in();
  second.fill_in();
  for (std::int64_t count = draw.between(1, 3); count > 0; --count) {
    const Id a = first.result();
    const DrawnValue given = first.draw.at(a);
    Shape shape = given.desc.shape;
    for (std::int64_t& dim : shape)
      if (draw.one_in(6)) dim = draw.dim(5);
    const Id fresh = second.draw.fresh(given.desc.dtype, shape);
    const Id b = second.draw.value_like(given.desc).value_or(fresh);
    const bool swaps = draw.one_in(2);
    first.give(a);
    second.give(swaps ? fresh : b);
  }
  std::vector<DrawnValue> outputs;
  for (std::size_t i = 0; i < first.outputs(); ++i)
    outputs.push_back(like(first.output(i),
                           joined(first.output(i).desc.shape, second.output(i).desc.shape),
                           second.output(i).exactness));
  draw.add_with_bodies("If", {decides}, {},
                       {{"then_branch", &first.draw}, {"else_branch", &second.draw}}, outputs);
}

// ---- what loops carry ----

/// The state behind a trip: half of what it was, and the largest of something that the trip computed.
Id next_state(ModelDraw& body, Id state) {
  const DataType dtype = body.dtype_of(state);
  if (dtype != DataType::kFloat)
    return body.added("Sub", {body.numbers(dtype, {}, 3, 3), state}, Exactness::kExact).value();
  const Id half = body.added("Mul", {state, body.numbers(dtype, {}, 0.5, 0.5)}).value();
  const Id something = body.value({.max_rank = 4});
  if (element_count(body.shape_of(something)) == 0) return half;
  Attrs drop;
  drop.set("keepdims", std::int64_t{0});
  const Id largest = body.added("ReduceMax", {something}, Exactness::kClose, drop).value();
  const Id wave = body.added("Tanh", {largest}).value();
  return body.added("Add", {half, wave}).value();
}

struct State {
  Id before;      ///< around the node
  Id inside;      ///< what the body reads
  bool is_grown;  ///< a row longer with each trip
};

State carry(ModelDraw& draw, Body& body, bool may_grow) {
  const DataType dtype = draw.one_in(4) ? DataType::kInt64 : DataType::kFloat;
  const bool is_grown = may_grow && draw.one_in(4);
  const Id before = draw.value({.types = {dtype}, .min_rank = is_grown ? 1 : 0, .max_rank = 4});
  TensorDesc desc = draw.at(before).desc;
  if (is_grown) desc.shape[0] = kUnknownDim;
  const Exactness exactness =
      dtype == DataType::kInt64 ? draw.at(before).exactness : Exactness::kClose;
  return {before, body.draw.formal(desc, exactness), is_grown};
}

Id carried_on(ModelDraw& draw, Body& body, const State& state) {
  if (!state.is_grown) return next_state(body.draw, state.inside);
  Shape row = draw.shape_of(state.before);
  row[0] = draw.between(1, 2);
  Attrs along;
  along.set("axis", std::int64_t{0});
  const Id added = body.draw.fresh(draw.dtype_of(state.before), row);
  return body.draw.added("Concat", {state.inside, added}, Exactness::kExact, along).value();
}

// ---- Loop ----

/// How often it goes round: a number, given or computed, and whether the body wants another trip.
void add_loop(ModelDraw& draw, int depth) {
  Body body(draw, depth);
  const Id trip = body.draw.formal({.dtype = DataType::kInt64}, Exactness::kExact);
  const Id goes_on = body.draw.formal({.dtype = DataType::kBool}, Exactness::kExact);
  std::vector<State> states;
  for (std::int64_t count = draw.between(0, 2); count > 0; --count)
    states.push_back(carry(draw, body, true));
  body.fill_in();
  const bool ends_itself = draw.one_in(3);
  std::vector<Id> inputs = {kAbsent, kAbsent};
  if (!ends_itself || draw.one_in(2))
    inputs[0] = draw.one_in(2) ? draw.numbers(DataType::kInt64, {}, 0, 4)
                               : draw.fresh(DataType::kInt64, {}, false);
  if (draw.one_in(3)) inputs[1] = draw.fresh(DataType::kBool, {}, draw.one_in(3));
  const Id last = body.draw.numbers(DataType::kInt64, {}, 0, 3);
  body.give(ends_itself ? body.draw.added("Less", {trip, last}, Exactness::kExact).value()
                        : goes_on);
  std::vector<DrawnValue> outputs;
  for (const State& state : states) {
    const Id next = carried_on(draw, body, state);
    inputs.push_back(state.before);
    body.give(next);
    outputs.push_back(like(body.draw.at(next), body.draw.at(state.inside).desc.shape,
                           body.draw.at(state.inside).exactness));
    outputs.back().exactness = std::max(outputs.back().exactness, draw.at(state.before).exactness);
  }
  for (std::int64_t count = draw.between(states.empty() ? 1 : 0, 2); count > 0; --count) {
    const Id collected = body.result();
    body.give(collected);
    Shape shape = body.draw.shape_of(collected);
    shape.insert(shape.begin(), kUnknownDim);
    outputs.push_back(like(body.draw.at(collected), shape, Exactness::kExact));
  }
  draw.add_with_bodies("Loop", inputs, {}, {{"body", &body.draw}}, outputs);
}

// ---- Scan ----

void add_scan(ModelDraw& draw, int depth) {
  Body body(draw, depth);
  const std::int64_t trips = draw.dim(5);
  std::vector<Id> inputs;
  std::vector<State> states;
  for (std::int64_t count = draw.between(0, 2); count > 0; --count) {
    states.push_back(carry(draw, body, false));
    inputs.push_back(states.back().before);
  }
  Ints axes, directions, output_axes, output_directions;
  const std::int64_t scans = draw.between(1, 2);
  for (std::int64_t i = 0; i < scans; ++i) {
    const Shape slice = draw.shape(0, 3);
    Shape whole = slice;
    const std::int64_t axis = draw.between(0, std::ssize(slice));
    whole.insert(whole.begin() + axis, trips);
    axes.push_back(draw.one_in(2) ? axis : axis - std::ssize(whole));
    directions.push_back(draw.below(2));
    inputs.push_back(draw.fresh(DataType::kFloat, whole));
    body.draw.formal({.dtype = DataType::kFloat, .shape = slice}, Exactness::kExact);
  }
  body.fill_in();
  std::vector<DrawnValue> outputs;
  for (const State& state : states) {
    const Id next = next_state(body.draw, state.inside);
    body.give(next);
    outputs.push_back(
        like(body.draw.at(next), draw.shape_of(state.before), draw.at(state.before).exactness));
  }
  for (std::int64_t count = draw.between(1, 2); count > 0; --count) {
    const Id collected = body.result();
    body.give(collected);
    Shape shape = body.draw.shape_of(collected);
    const std::int64_t axis = draw.between(0, std::ssize(shape));
    shape.insert(shape.begin() + axis, trips);
    output_axes.push_back(axis);
    output_directions.push_back(draw.below(2));
    outputs.push_back(like(body.draw.at(collected), shape, Exactness::kExact));
  }
  Attrs attrs;
  attrs.set("num_scan_inputs", scans);
  attrs.set("scan_input_axes", axes);
  attrs.set("scan_input_directions", directions);
  attrs.set("scan_output_axes", output_axes);
  attrs.set("scan_output_directions", output_directions);
  draw.add_with_bodies("Scan", inputs, attrs, {{"body", &body.draw}}, outputs);
}

void add_control(ModelDraw& draw, int depth) {
  static const std::vector<void (*)(ModelDraw&, int)> kAll = {add_if, add_loop, add_scan};
  draw.pick(kAll)(draw, depth);
}

}  // namespace

onnx::ModelProto random_control_flow(std::uint32_t seed) {
  ModelDraw draw(seed);
  fill(draw, draw.between(0, 2), kDeepest);
  add_control(draw, 0);
  fill(draw, draw.between(0, 3), 1);
  return draw.finish();
}

}  // namespace aoe::tests
