// Operators on bytes between scales (QLinearAdd, QGemm, ...): Dequantize, the operator in float32, Quantize.
// What fuse_quantized can, it makes one loop over bytes of that.
#include "graph/import/quantized_terms.h"

namespace aoe::graph {
namespace {

/// Of the byte tensor, scale and zero point at inputs first, first + 1, first + 2.
Term real(FunctionCall& call, std::size_t first, std::int64_t axis = 1) {
  return real(call, {call.input(first), call.input(first + 1), optional_input(call, first + 2)},
              axis);
}

/// With the scale and zero point at inputs scale, scale + 1. Without a zero point the bytes are of type `dtype`.
Term bytes(FunctionCall& call, Term value, std::size_t scale, DataType dtype) {
  return quantised(call, value, call.input(scale), optional_input(call, scale + 1), dtype);
}

using Compute = std::function<Term(FunctionCall&, Term)>;

/// X, its scale and zero point, those of Y.
auto of_one(Compute compute) {
  return [compute](FunctionCall& call) {
    call.give(0, bytes(call, compute(call, real(call, 0)), 3, call.dtype(call.input(0))));
  };
}

/// A, its scale and zero point, B's, C's.
auto of_two(const std::string& type) {
  return [type](FunctionCall& call) {
    call.give(0, bytes(call, call.op(type, {real(call, 0), real(call, 3)}), 6,
                       call.dtype(call.input(0))));
  };
}

/// The attributes of a call whose images may be NHWC, without saying so.
reference::Attrs without_layout(const FunctionCall& call) {
  reference::Attrs attrs = call.attrs();
  attrs.erase("channels_last");
  return attrs;
}

/// `compute` on images that may be NHWC; it takes and gives NCHW.
Term on_images(FunctionCall& call, Term x, const std::function<Term(Term)>& compute) {
  if (call.attrs().get_int("channels_last", 0) == 0) return compute(x);
  const std::int64_t rank = call.rank(x);
  std::vector<std::int64_t> to_nchw = {0, rank - 1}, to_nhwc = {0};
  for (std::int64_t axis = 1; axis + 1 < rank; ++axis) to_nchw.push_back(axis);
  for (std::int64_t axis = 2; axis < rank; ++axis) to_nhwc.push_back(axis);
  to_nhwc.push_back(1);
  return call.transpose(compute(call.transpose(x, to_nchw)), to_nhwc);
}

Term pooled(FunctionCall& call, Term x, const std::string& type) {
  return on_images(call, x,
                   [&](Term image) { return call.op(type, {image}, without_layout(call)); });
}

/// ONNX's QLinearConv, on images that may be NHWC.
void expand_qlinear_conv(FunctionCall& call) {
  call.give(0, on_images(call, call.input(0), [&](Term image) {
              std::vector<Term> inputs = {image};
              for (std::size_t i = 1; i < 8; ++i) inputs.push_back(call.input(i));
              if (call.has(8)) inputs.push_back(call.input(8));
              return call.op("QLinearConv", inputs, without_layout(call));
            }));
}

/// A, B (each with scale and zero point), C in whole numbers of both scales' product, scale and zero point of Y: without
/// them Y is of float32.
void expand_qgemm(FunctionCall& call) {
  const auto matrix = [&](std::size_t i, const char* is_transposed) {
    const bool turn = call.attrs().get_int(is_transposed, 0) != 0;
    return turn ? call.transpose(call.input(i), {1, 0}) : call.input(i);
  };
  const ByteTerm a = {matrix(0, "transA"), call.input(1), optional_input(call, 2)},
                 b = {matrix(3, "transB"), call.input(4), optional_input(call, 5)};
  const auto alpha = static_cast<double>(call.attrs().get_float("alpha", 1));
  Term y = product(call, a, {b.values, b.scale * alpha, b.zero});
  if (call.has(6)) y = y + call.cast(call.input(6), DataType::kFloat) * (a.scale * b.scale * alpha);
  call.give(0, call.has(7) ? bytes(call, y, 7, call.dtype(call.input(0))) : y);
}

void expand_where(FunctionCall& call) {
  const Term y = call.op("Where", {call.input(0), real(call, 1), real(call, 4)});
  call.give(0, bytes(call, y, 7, call.dtype(call.input(1))));
}

void expand_concat(FunctionCall& call) {
  std::vector<Term> parts;
  for (std::size_t i = 2; call.has(i); i += 3) parts.push_back(real(call, i));
  const Term whole = call.concat(parts, call.attrs().get_int("axis", 1));
  call.give(0, bytes(call, whole, 0, call.dtype(call.input(2))));
}

Compute with_attrs(const std::string& type) {
  return [type](FunctionCall& call, Term x) { return call.op(type, {x}, call.attrs()); };
}

/// ONNX's own, which older operator sets have without an axis or not at all.
auto as_in_onnx(const std::string& type) {
  return [type](FunctionCall& call) {
    std::vector<Term> inputs = {call.input(0), call.input(1)};
    if (call.has(2)) inputs.push_back(call.input(2));
    call.give(0, call.op(type, inputs, call.attrs()));
  };
}

/// Before operator set 13 of all axes from the one that it names on.
void expand_softmax(FunctionCall& call) {
  const Term x = real(call, 0);
  const std::int64_t axis = call.attrs().get_int("axis", -1);
  const auto of = [&](Term value, std::int64_t which) {
    return call.op("Softmax", {value}, with_axis(which));
  };
  const bool is_of_one_axis = call.attrs().get_int("opset", 13) >= 13;
  const Term y = is_of_one_axis
                     ? of(x, axis)
                     : call.op("Reshape", {of(call.op("Flatten", {x}, with_axis(axis)), -1),
                                           call.op("Shape", {x})});
  call.give(0, bytes(call, y, 3, call.dtype(call.input(0))));
}

/// Where sizes are open, channels are the last axis of a volume that windows do not reach along: nothing is turned.
void expand_nhwc_max_pool(FunctionCall& call) {
  const Term x = call.input(0);
  if (is_static(call.shape(x)) || call.rank(x) != 4) {
    const Term planes = call.transpose(x, {0, 3, 1, 2});
    return call.give(0, call.transpose(call.op("MaxPool", {planes}, call.attrs()), {0, 2, 3, 1}));
  }
  reference::Attrs attrs = call.attrs();
  const auto lengthen = [&](const char* name, std::vector<std::size_t> places, std::int64_t value) {
    std::vector<std::int64_t> values = attrs.get_ints(name);
    if (values.empty()) return;
    for (const std::size_t place : places)
      values.insert(values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size())),
                    value);
    attrs.set(name, values);
  };
  for (const char* name : {"kernel_shape", "strides", "dilations"}) lengthen(name, {2}, 1);
  lengthen("pads", {2, 5}, 0);
  const Term volume = call.op("Unsqueeze", {x, call.ints({1})});
  call.give(0, call.op("Squeeze", {call.op("MaxPool", {volume}, attrs), call.ints({1})}));
}

}  // namespace

void register_qlinear(FunctionRegistry& registry) {
  for (const char* type : {"QuantizeLinear", "DequantizeLinear"})
    registry.add({kMicrosoft, type, as_in_onnx(type)});
  registry.add({kMicrosoft, "QLinearAdd", of_two("Add")});
  registry.add({kMicrosoft, "QLinearMul", of_two("Mul")});
  registry.add({kMicrosoft, "QLinearSigmoid", of_one(with_attrs("Sigmoid"))});
  registry.add({kMicrosoft, "QLinearLeakyRelu", of_one(with_attrs("LeakyRelu"))});
  registry.add({kMicrosoft, "QLinearSoftmax", expand_softmax});
  registry.add({kMicrosoft, "QLinearGlobalAveragePool", of_one([](FunctionCall& call, Term x) {
                  return pooled(call, x, "GlobalAveragePool");
                })});
  registry.add({kMicrosoft, "QLinearAveragePool",
                of_one([](FunctionCall& call, Term x) { return pooled(call, x, "AveragePool"); })});
  registry.add({kMicrosoft, "QLinearConcat", expand_concat});
  registry.add({kMicrosoft, "QLinearConv", expand_qlinear_conv});
  registry.add({kMicrosoft, "QLinearWhere", expand_where});
  registry.add({kMicrosoft, "QGemm", expand_qgemm});
  registry.add({kMicrosoft, "NhwcMaxPool", expand_nhwc_max_pool});
}

}  // namespace aoe::graph
