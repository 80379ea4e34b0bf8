// static_op_mem: what the memory plan gives each op, and from which op to which.
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_static_op_mem(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  Statement row = profile.connection().prepare(
      "SELECT opName, modelId, nodeIndexStart, nodeIndexEnd, sizeBytes FROM MODEL_STATIC_MEM "
      "ORDER BY modelId, rowid");
  while (row.step()) {
    const ModelRow* model = profile.model(row.integer(1));
    const auto index = [&](int column) {
      row.is_null(column) ? writer.na() : writer.integer(row.integer(column));
    };
    writer.integer(0)
        .text(row.text(0))
        .text(model == nullptr ? "" : model->name)
        .integer(row.integer(1));
    index(2);
    index(3);
    writer.real(static_cast<double>(row.integer(4)) / 1024).end_row();
  }
}

}  // namespace

void register_static_op_mem(SummaryRegistry& registry) {
  registry.add({.name = "static_op_mem",
                .columns = {"Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start",
                            "Node Index End", "Size(KB)"},
                .write = write_static_op_mem});
}

}  // namespace aoe::profiler
