// Products with what ONNX Runtime fused into them: FusedMatMul, FusedGemm, FusedConv.
#include <algorithm>
#include <numeric>

#include "graph/import/function_call.h"

namespace aoe::graph {
namespace {

/// Of the last two axes, or, `of_batch`, of the first and those behind it but the last.
Term transposed(Term value, bool of_matrix, bool of_batch) {
  if (!of_matrix && !of_batch) return value;
  FunctionCall& call = *value.call;
  std::vector<std::int64_t> perm(static_cast<std::size_t>(call.rank(value)));
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  if (perm.size() < 2) return value;
  if (of_batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (of_matrix) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return call.transpose(value, perm);
}

void expand_matmul(FunctionCall& call) {
  const auto is_set = [&](const char* name) { return call.attrs().get_int(name, 0) != 0; };
  const Term a = transposed(call.input(0), is_set("transA"), is_set("transBatchA"));
  const Term b = transposed(call.input(1), is_set("transB"), is_set("transBatchB"));
  call.give(0, call.matmul(a, b) * static_cast<double>(call.attrs().get_float("alpha", 1)));
}

/// An activation by its ONNX name, with `params` in the order of its attributes.
Term activated(Term x, const std::string& name, const std::vector<float>& params) {
  if (name.empty()) return x;
  FunctionCall& call = *x.call;
  const auto param = [&](std::size_t i) {
    if (i >= params.size()) throw NotExpressible{"its activation " + name + " lacks a parameter"};
    return params[i];
  };
  reference::Attrs attrs;
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid") return call.op(name, {x});
  if (name == "LeakyRelu") {
    attrs.set("alpha", param(0));
    return call.op(name, {x}, attrs);
  }
  if (name == "HardSigmoid") {
    attrs.set("alpha", param(0));
    attrs.set("beta", param(1));
    return call.op(name, {x}, attrs);
  }
  if (name == "Clip")
    return call.op(name, {x, call.number(static_cast<double>(param(0)), call.dtype(x)),
                          call.number(static_cast<double>(param(1)), call.dtype(x))});
  throw NotExpressible{"its activation " + name + " is not known"};
}

/// The attributes but those that the plain operator does not have.
reference::Attrs plain_attrs(const FunctionCall& call) {
  reference::Attrs attrs = call.attrs();
  for (const char* name : {"activation", "activation_params", "activation_alpha", "activation_beta",
                           "activation_gamma"})
    attrs.erase(name);
  return attrs;
}

void expand_conv(FunctionCall& call) {
  std::vector<Term> inputs = {call.input(0), call.input(1)};
  if (call.has(2)) inputs.push_back(call.input(2));
  Term y = call.op("Conv", inputs, plain_attrs(call));
  if (call.has(3)) y = y + call.input(3);
  call.give(0, activated(y, call.attrs().get_string("activation", ""),
                         call.attrs().get_floats("activation_params")));
}

void expand_gemm(FunctionCall& call) {
  std::vector<Term> inputs = {call.input(0), call.input(1)};
  if (call.has(2)) inputs.push_back(call.input(2));
  std::vector<float> params;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (call.attrs().has(name)) params.push_back(call.attrs().get_float(name, 0));
  call.give(0, activated(call.op("Gemm", inputs, plain_attrs(call)),
                         call.attrs().get_string("activation", ""), params));
}

}  // namespace

void register_fused_product(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "FusedMatMul", expand_matmul});
  registry.add({kMicrosoft, "TransposeMatMul", expand_matmul});
  registry.add({kMicrosoft, "FusedGemm", expand_gemm});
  registry.add({kMicrosoft, "FusedConv", expand_conv});
}

}  // namespace aoe::graph
