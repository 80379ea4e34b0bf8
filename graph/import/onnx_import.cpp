// import_onnx(): load, import, and put the file's name in front of every complaint.
#include "graph/import/onnx_import.h"

#include "base/error.h"
#include "graph/import/onnx_check.h"
#include "graph/import/onnx_importer.h"

namespace aoe::graph {

namespace {

/// A model's lists and names may be of any length, and messages quote them.
std::string shortened(const std::string& text) {
  std::size_t most = 20'000;
  if (text.size() <= most) return text;
  const auto is_inside_character = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };
  while (is_inside_character(most)) --most;
  return text.substr(0, most) + " ...";
}

Graph import_model(onnx::ModelProto model, const std::filesystem::path& path,
                   const ImportOptions& options) {
  try {
    Graph graph = Importer(model, path, options).run();
    insert_aipp(graph, options.aipp);
    set_interface_types(graph, options.types);
    return graph;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kModel) throw;
    throw Error(error.code(), shortened(error.what()), path.string());
  }
}

}  // namespace

Graph import_onnx(const std::filesystem::path& path, const ImportOptions& options) {
  return import_model(load_model(path), path, options);
}

Graph import_onnx(const OnnxBytes& model, const ImportOptions& options) {
  return import_model(parse_model(model.bytes, model.name), model.name, options);
}

ModelCheck check_onnx(const std::filesystem::path& path, const ImportOptions& options) {
  onnx::ModelProto model = load_model(path);
  Importer importer(model, path, options);
  ModelCheck check;
  try {
    importer.run();
  } catch (const Error& error) {
    if (error.code() != ExitCode::kModel) throw;
    check.problem = error.what();
  }
  check.nodes = importer.checked();
  return check;
}

}  // namespace aoe::graph
