// What oneDNN would make of a stage, and its constants in the layouts that it wants: what the compiler asks.
#include "runtime/onednn/onednn_kernel.h"
#include "runtime/onednn/onednn_primitive.h"
#include "runtime/onednn/onednn_stage.h"
#include "runtime/threads/openmp_threads.h"

namespace aoe::runtime {

using dnnl::memory;
using nlohmann::json;

namespace {

/// Constants whose layout oneDNN chose.
constexpr const char* kWeights[] = {"weights", "weights_iter"};

}  // namespace

Result<OneDnnChoice> probe(const json& stage, int threads) {
  try {
    const dnnl::primitive_desc_base desc = make_onednn_primitive_desc(stage, threads);
    OneDnnChoice choice;
    choice.implementation = desc.impl_info_str();
    choice.scratchpad_bytes = desc.query_md(dnnl::query::scratchpad_md).get_size();
    for (const char* word : kWeights) {
      if (!stage.contains(word)) continue;
      const memory::desc layout = desc.query_md(dnnl::query::exec_arg_md, onednn_argument_id(word));
      choice.weights[word] = {named_layout(layout), layout.get_size()};
    }
    return choice;
  } catch (const dnnl::error& e) {
    return Unexpected(std::string("oneDNN has no such primitive: ") + e.what());
  }
}

void repack(const json& from, const void* source, const json& to, void* destination) {
  ask_for_openmp_threads(omp_get_max_threads());
  const dnnl::engine& engine = onednn_engine();
  memory in(memory_desc_from_json(from), engine, const_cast<void*>(source));
  memory out(memory_desc_from_json(to), engine, destination);
  dnnl::stream stream(engine);
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
}

}  // namespace aoe::runtime
