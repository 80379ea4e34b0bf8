// fusion_op: which ops were fused, and the memory that the fused op works on.
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

std::optional<double> kilobytes(std::optional<std::int64_t> bytes) {
  return bytes ? std::optional(static_cast<double>(*bytes) / 1024) : std::nullopt;
}

void write_op(const ModelRow& model, const OpRow& op, TableWriter& writer) {
  const std::int64_t weight_bytes = op.weight_bytes.value_or(0);
  std::optional<std::int64_t> input_bytes, total_bytes;
  if (op.read_bytes) input_bytes = *op.read_bytes - weight_bytes;
  if (op.read_bytes && op.write_bytes)
    total_bytes = *op.read_bytes + *op.write_bytes + op.workspace_bytes.value_or(0);
  writer.integer(0)
      .text(model.name)
      .integer(model.id)
      .text(op.name)
      .text(op.original_ops)
      .real(kilobytes(input_bytes))
      .real(kilobytes(op.write_bytes))
      .real(kilobytes(op.weight_bytes))
      .real(kilobytes(op.workspace_bytes))
      .real(kilobytes(total_bytes))
      .end_row();
}

void write_fusion_op(const SummaryRequest& request, TableWriter& writer) {
  for (const ModelRow& model : request.profile.models()) {
    if (request.selection.iteration && request.selection.iteration->model_id != model.id) continue;
    for (const OpRow& op : model.ops)
      if (op.original_ops.find(';') != std::string::npos) write_op(model, op, writer);
  }
}

}  // namespace

void register_fusion_op(SummaryRegistry& registry) {
  registry.add({.name = "fusion_op",
                .columns = {"Device_id", "Model Name", "Model ID", "Fusion Op", "Original Ops",
                            "Memory Input(KB)", "Memory Output(KB)", "Memory Weight(KB)",
                            "Memory Workspace(KB)", "Memory Total(KB)"},
                .write = write_fusion_op});
}

}  // namespace aoe::profiler
