// If, Loop, Scan, MapSlices: nodes that run their bodies. The importer or a pass settles their outputs and the runtime runs the
// bodies (runtime/control_step.h, runtime/slice_map.h); here they only have their names. And Assert, which stands for a branch that cannot run.
#include "reference/elements/onnx_data_type.h"
#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

OpDef control(const char* type, const char* attributes) {
  return {.type = type,
          .signature = {"a*", attributes},
          .kind = OpKind::kControl,
          .infer = [](const InferContext&) -> std::vector<TensorDesc> { throw Undetermined{}; },
          .compute =
              [](const OpContext&) {
                fail_model("runs its bodies, which the reference does not have");
              },
          .flops = [](const CostContext&) { return 0.0; },
          .is_deterministic = false,
          .min_inputs = 0};
}

/// What attributes say: the type of each output, its rank, and the dimensions of all of them in a row.
std::vector<TensorDesc> infer_declared(const InferContext& context) {
  const auto dtypes = context.attrs.get_ints("dtypes"), ranks = context.attrs.get_ints("ranks"),
             dims = context.attrs.get_ints("dims");
  std::vector<TensorDesc> outputs;
  std::size_t first = 0;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const auto rank = static_cast<std::size_t>(i < ranks.size() ? ranks[i] : 0);
    if (rank > dims.size() - first) fail_model("declares more dimensions than it has");
    const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(first);
    outputs.push_back({.dtype = data_type_from_onnx(dtypes[i]),
                       .shape = Shape(begin, begin + static_cast<std::ptrdiff_t>(rank))});
    first += rank;
  }
  return outputs;
}

}  // namespace

void register_control_flow(OpRegistry& registry) {
  for (const char* type : {"If", "Loop"}) registry.add(control(type, "captures=ints:0.."));
  registry.add(control("Scan",
                       "captures=ints:0.. !num_scan_inputs=1.. scan_input_axes=ints "
                       "scan_input_directions=ints scan_output_axes=ints "
                       "scan_output_directions=ints"));
  OpDef slices = control("MapSlices", "");
  slices.onnx_type = "";  // of a pass of ours (graph/passes/map_slices.cpp)
  registry.add(std::move(slices));
  registry.add(
      {.type = "Assert",
       .onnx_type = "",
       .signature =
           {"", "!why=string !dtypes=ints:1.. !ranks=ints:0.. dims=ints:0..9223372036854775807"},
       .kind = OpKind::kOther,
       .infer = infer_declared,
       .compute = [](const OpContext& context) { fail_model(context.attrs.get_string("why", "")); },
       .flops = [](const CostContext&) { return 0.0; },
       .is_deterministic = false,
       .ends_runs = true,
       .min_inputs = 0});
}

}  // namespace aoe::reference
