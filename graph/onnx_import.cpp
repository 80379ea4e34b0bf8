// import_onnx(): load, import, and put the file's name in front of every complaint.
#include "graph/onnx_import.h"

#include "base/error.h"
#include "graph/onnx_importer.h"

namespace aoe::graph {

Graph import_onnx(const std::filesystem::path& path, const ImportOptions& options) {
  onnx::ModelProto model = load_model(path);
  try {
    return Importer(model, path, options).run();
  } catch (const Error& error) {
    if (error.code() != ExitCode::kModel) throw;
    throw Error(error.code(), error.what(), path.string());
  }
}

}  // namespace aoe::graph
