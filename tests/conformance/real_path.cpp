// Import, passes, compilation, om file, executor: nothing of it is a stand-in.
#include "tests/conformance/real_path.h"

#include <algorithm>

#include "base/check.h"
#include "base/file.h"
#include "base/text_pool.h"
#include "compiler/compiler.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"
#include "reference/packed_sequence.h"
#include "reference/tensors/widen.h"
#include "runtime/executor.h"
#include "tests/temp_dir.h"

namespace aoe::conformance {
namespace {

void compile_to(const std::filesystem::path& om, const NodeCase& node_case) {
  static const compiler::Soc soc = compiler::detect_soc(1);
  compiler::CompileOptions options;
  options.soc = soc;
  graph::Graph graph =
      graph::import_onnx(node_case.model, {.input_shapes = node_case.input_shapes});
  graph::run_passes(graph, {});
  write_file_atomically(om, compiler::compile(graph, options).om.serialize());
}

/// The tensor with its places in one pool as those in another.
ConstantPtr moved_texts(const Constant& places, const TextPool& from, TextPool& to) {
  std::vector<std::int64_t> moved = reference::to_int64s(places.view());
  for (std::int64_t& place : moved) place = to.place_of(from.at(place));
  return std::make_shared<Constant>(places.desc(), moved.data());
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<ConstantPtr> run_case(const NodeCase& node_case) {
  std::vector<ConstantPtr> inputs = node_case.inputs;
  const tests::TempDir directory;
  compile_to(directory / "model.om", node_case);
  runtime::Executor executor(runtime::Om::load(directory / "model.om"), {});

  AOE_CHECK(executor.input_count() == inputs.size(), std::to_string(executor.input_count()) +
                                                         " inputs, the case has " +
                                                         std::to_string(inputs.size()));
  TextPool own(std::make_shared<const TextIndex>(node_case.texts)),
      texts(std::make_shared<const TextIndex>(executor.om().texts.list));
  const Texts& in_om = executor.om().texts;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_among(executor.input(i).name, in_om.inputs))
      inputs[i] = moved_texts(*inputs[i], own, texts);
  std::vector<Tensor> input_views, output_views;
  for (const ConstantPtr& input : inputs) input_views.push_back(input->view());

  std::vector<std::shared_ptr<Constant>>
      buffers;  // of those outputs whose shape is known before the run
  for (std::size_t i = 0; i < executor.output_count(); ++i) {
    Tensor view{executor.output(i).desc, nullptr};
    if (is_static(view.desc.shape)) {
      buffers.push_back(std::make_shared<Constant>(view.desc));
      view.data = buffers.back()->mutable_data();
    }
    output_views.push_back(view);
  }
  const TextPool::Scope scope(texts);
  executor.run(input_views, output_views);

  std::vector<ConstantPtr> outputs;
  for (std::size_t i = 0; i < output_views.size(); ++i) {
    const bool is_packed = executor.output(i).name.ends_with("[]");
    const std::vector<Tensor> items = is_packed ? reference::unpacked_items(output_views[i])
                                                : std::vector<Tensor>{output_views[i]};
    for (const Tensor& item : items)
      outputs.push_back(std::make_shared<Constant>(item.desc, item.data));
    if (is_among(executor.output(i).name, in_om.outputs))
      outputs.back() = moved_texts(*outputs.back(), texts, own);
  }
  return outputs;
}

}  // namespace aoe::conformance
