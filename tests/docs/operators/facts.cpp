// Asking the reference whether it takes a call, and all Impls who carries it out.
#include "tests/docs/operators/facts.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/text_pool.h"
#include "compiler/impl.h"
#include "graph/passes.h"
#include "runtime/backend.h"
#include "runtime/isa.h"
#include "tests/compiler/element_types.h"
#include "tests/compiler/shape_line.h"

namespace aoe::docs {
namespace {

using compiler::Candidate;
using compiler::ShapeLine;
using compiler::Soc;
using compiler::Task;
using reference::OpDef;

/// How names of nodes begin that are no part of what is asked.
constexpr const char* kReader = "reader";

/// Plain AVX-512 or AVX2: oneDNN answers for the machine that it runs on alone.
const Soc& soc() {
  static const Soc wide = {.version = "avx512",
                           .target = compiler::find_target("avx512"),
                           .llvm_cpu = "x86-64-v4",
                           .threads = 2};
  static const Soc narrow = {.version = "avx2", .llvm_cpu = "x86-64-v3", .threads = 2};
  return runtime::best_host_isa().starts_with("avx512") ? wide : narrow;
}

Carrier carrier_of(const compiler::Kernel& kernel) {
  const runtime::BackendTraits& traits = kernel.backend->traits();
  if (!traits.runs) return Carrier::kNobody;
  if (traits.is_plain) return Carrier::kReference;
  if (traits.path == "native") return Carrier::kNative;
  return traits.path == "onednn" ? Carrier::kLibrary : Carrier::kGenerated;
}

Carrier best_carrier(const Task& task) {
  if (reference::is_kind(task.op.type, reference::OpKind::kControl)) return Carrier::kGenerated;
  Carrier best = Carrier::kReference;
  for (const Candidate& candidate : compiler::default_candidates(task, soc())) {
    const auto plan = candidate.impl->plan(task, candidate.format, soc());
    best = std::min(best, carrier_of(plan->build(candidate.schedule)));
  }
  return best;
}

/// "in=4x33:const" takes a type, "in=4:int64", "in=[1]" and "in=-" have theirs.
bool is_open(const std::string& word) {
  if (!word.starts_with("in=") || word[3] == '[' || word[3] == '-') return false;
  std::istringstream parts(word.substr(3));
  for (std::string part; std::getline(parts, part, ':');)
    if (data_type_from_name(part)) return false;
  return true;
}

std::string with_type(const std::string& line, DataType type) {
  std::istringstream words(line);
  std::string text;
  for (std::string word; words >> word;) {
    if (is_open(word)) word += ":" + std::string(name(type));
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

/// Shapes that only a run can tell are not computed: the executor would, as it goes.
void compute(const ShapeLine& line) {
  std::vector<Tensor> inputs, outputs;
  std::vector<std::unique_ptr<Constant>> buffers;
  for (const auto& value : line.inputs) inputs.push_back(value ? value->view() : Tensor{});
  for (const TensorDesc& desc : line.task.outputs) {
    if (!is_static(desc.shape)) return;
    buffers.push_back(std::make_unique<Constant>(desc));
    outputs.push_back({desc, buffers.back()->mutable_data()});
  }
  TextPool texts;  // inputs are 0 and 1
  for (const char* text : {"0", "1"}) texts.place_of(text);
  const TextPool::Scope scope(texts);
  reference::run(line.task.op, inputs, outputs);
}

/// Nothing where the operator refuses the type.
std::optional<ShapeLine> taken(const std::string& line, DataType type) {
  try {
    ShapeLine parsed = compiler::parse_shape_line(with_type(line, type));
    compute(parsed);
    return parsed;
  } catch (const Error& error) {
    if (error.code() == ExitCode::kData) throw;  // the line is no line
    return {};
  }
}

/// The call in the middle of a model: something reads what it gives, and nothing is fused to that.
graph::Graph graph_around(const Task& task) {
  graph::Graph graph = compiler::graph_of(task);
  std::vector<graph::ValueId> outputs;
  for (const graph::ValueId output : graph.outputs) {
    const graph::ValueId read =
        graph.add_value("read" + std::to_string(output), {.shape = graph::kUnknownRankShape});
    graph.add_node({.name = kReader + std::to_string(output),
                    .op = {.type = "NonZero"},
                    .inputs = {output},
                    .outputs = {read}});
    outputs.push_back(read);
  }
  graph.outputs = outputs;
  graph::infer_shapes(graph);
  return graph;
}

Carrier slowest_part(const Task& task) {
  const auto parts = parts_of(graph_around(task));
  return parts.empty() ? Carrier::kNobody : parts.rbegin()->first;
}

std::vector<std::string> lines_of(const OpDef& def, const std::vector<std::string>& lines) {
  std::vector<std::string> own;
  std::ranges::copy_if(lines, std::back_inserter(own),
                       [&](const std::string& line) { return line.starts_with(def.type + " "); });
  if (!own.empty() || def.kind != reference::OpKind::kElementwise) return own;
  std::string line = def.type;  // an elementwise one says itself how many operands it needs
  for (std::size_t i = 0; i < def.min_inputs; ++i) line += " in=4x33";
  return {line};
}

}  // namespace

TypeFacts type_facts(const OpDef& def, const std::vector<std::string>& lines) {
  TypeFacts facts;
  for (const std::string& line : lines_of(def, lines)) {
    std::istringstream stream(line);
    std::string word;
    bool has_open = false;
    while (stream >> word) has_open |= is_open(word);
    for (const DataType type : compiler::kElementTypes) {
      const std::optional<ShapeLine> call = taken(line, type);
      if (!call) continue;
      const DataType named = has_open ? type : call->task.outputs.at(0).dtype;
      const Carrier carrier = slowest_part(call->task);
      const auto [known, is_new] = facts.emplace(named, carrier);
      known->second = std::min(known->second, carrier);
      if (!has_open) break;
    }
  }
  if (facts.empty())
    throw Error(ExitCode::kData, "no call of it is accepted in any type", "operator " + def.type,
                "write a line in tests/docs/operators/calls.txt");
  return facts;
}

std::map<Carrier, std::set<std::string>> parts_of(graph::Graph graph) {
  graph::run_passes(graph, {});
  std::map<Carrier, std::set<std::string>> parts;
  for (const graph::NodeId id : graph.topological_order()) {
    if (graph.nodes[id].name.starts_with(kReader)) continue;
    const Task task = compiler::task_of(graph, id);
    std::string text;
    for (const std::string& type : reference::op_types(task.op))
      text += (text.empty() ? "" : "+") + type;
    parts[best_carrier(task)].insert(text);
  }
  return parts;
}

}  // namespace aoe::docs
