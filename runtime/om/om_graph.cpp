// The graph section: Om <-> JSON <-> CBOR.
#include "runtime/om/om_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"
#include "base/json_text.h"
#include "base/nesting.h"
#include "base/utf8.h"
#include "runtime/backend.h"

namespace aoe::runtime {
namespace {

using nlohmann::json;

constexpr const char* kPlaceNames[] = {"input", "output", "weight", "arena", "dynamic"};

[[noreturn]] void refuse_word(const std::string& word) {
  throw Error(ExitCode::kOm, "unknown word '" + word + "' in the graph section");
}

template <typename Enum, std::size_t kCount>
Enum enum_from_name(const char* const (&names)[kCount], const std::string& name) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (name == names[i]) return static_cast<Enum>(i);
  refuse_word(name);
}

const Backend* backend_from_name(const std::string& name) {
  const Backend* backend = backends().find(name);
  return backend == nullptr ? (refuse_word(name), nullptr) : backend;
}

json to_json(const OmTensor& tensor) {
  json j = {{"name", tensor.name},        {"dtype", static_cast<int>(tensor.desc.dtype)},
            {"shape", tensor.desc.shape}, {"format", static_cast<int>(tensor.desc.format)},
            {"c0", tensor.desc.c0},       {"place", kPlaceNames[static_cast<int>(tensor.place)]},
            {"offset", tensor.offset}};
  if (tensor.memory != Memory::kHost) j["memory"] = name(tensor.memory);
  return j;
}

OmTensor tensor_from_json(const json& j) {
  OmTensor tensor;
  j.at("name").get_to(tensor.name);
  tensor.desc.dtype = static_cast<DataType>(j.at("dtype").get<int>());
  j.at("shape").get_to(tensor.desc.shape);
  tensor.desc.format = static_cast<Format>(j.at("format").get<int>());
  j.at("c0").get_to(tensor.desc.c0);
  tensor.place = enum_from_name<Place>(kPlaceNames, j.at("place").get<std::string>());
  j.at("offset").get_to(tensor.offset);
  const auto memory = j.value("memory", std::string(name(Memory::kHost)));
  if (memory == name(Memory::kDevice))
    tensor.memory = Memory::kDevice;
  else if (memory != name(Memory::kHost))
    refuse_word(memory);
  return tensor;
}

constexpr auto kStepFields = std::tuple(
    JsonField("name", &OmStep::name), JsonField("op_types", &OmStep::op_types),
    JsonField("origins", &OmStep::origins), JsonField("params", &OmStep::params),
    JsonField("inputs", &OmStep::inputs), JsonField("outputs", &OmStep::outputs),
    JsonField("constants", &OmStep::constants), JsonField("workspace", &OmStep::workspace),
    JsonField("scratch_bytes", &OmStep::scratch_bytes), JsonField("flops", &OmStep::flops),
    JsonField("bytes", &OmStep::bytes));

json to_json(const OmStep& step) {
  json stages = json::array();
  for (const OmStage& stage : step.stages) {
    stages.push_back({{"symbol", stage.symbol}, {"extent", stage.extent}});
    if (stage.rounds != 1) stages.back()["rounds"] = stage.rounds;
  }
  json value = json_of_fields(step, kStepFields);
  value["kind"] = step.backend->traits().name;
  value["call"] = reference::to_json(step.call);
  value["stages"] = std::move(stages);
  return value;
}

OmStep step_from_json(const json& j) {
  OmStep step;
  read_fields(j, step, kStepFields);
  step.backend = backend_from_name(j.at("kind").get<std::string>());
  step.call = reference::op_call_from_json(j.at("call"));
  for (const json& stage : j.at("stages"))
    step.stages.push_back({stage.at("symbol").get<std::string>(),
                           stage.at("extent").get<std::int64_t>(),
                           stage.value("rounds", std::int64_t{1})});
  return step;
}

constexpr auto kOmFields =
    std::tuple(JsonField("name", &Om::name), JsonField("soc_version", &Om::soc_version),
               JsonField("isa", &Om::isa), JsonField("threads", &Om::threads),
               JsonField("c0", &Om::c0), JsonField("inputs", &Om::inputs),
               JsonField("outputs", &Om::outputs), JsonField("arena_bytes", &Om::arena_bytes));
constexpr auto kTextsFields =
    std::tuple(JsonField("list", &Texts::list), JsonField("inputs", &Texts::inputs),
               JsonField("outputs", &Texts::outputs));

std::optional<double> real_in(const json& graph, const char* key) {
  const auto found = graph.find(key);
  if (found == graph.end()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

std::string graph_to_cbor(const Om& om) {
  json tensors = json::array();
  for (const OmTensor& tensor : om.tensors) tensors.push_back(to_json(tensor));
  json steps = json::array();
  for (const OmStep& step : om.steps) steps.push_back(to_json(step));
  json graph = json_of_fields(om, kOmFields);
  graph["tensors"] = std::move(tensors);
  graph["steps"] = std::move(steps);
  if (om.peak_gflops) graph["peak_gflops"] = *om.peak_gflops;
  if (om.memory_gb_s) graph["memory_gb_s"] = *om.memory_gb_s;
  if (om.has_measured_roofs) graph["roofs"] = "measured";
  if (!om.texts.empty() || !om.texts.list.empty())
    graph["texts"] = json_of_fields(om.texts, kTextsFields);
  return cbor_bytes(graph);
}

Om without_sections(const Om& om) {
  Om bare{static_cast<const OmHead&>(om)};
  bare.tensors = om.tensors;
  bare.steps = om.steps;
  bare.inputs = om.inputs;
  bare.outputs = om.outputs;
  bare.texts = om.texts;
  bare.arena_bytes = om.arena_bytes;
  return bare;
}

namespace {

/// The graph section without names of where strategies came from, and without the machine.
std::string program_of(const Om& om) {
  Om bare = without_sections(om);
  static_cast<OmHead&>(bare) = {.name = "", .isa = om.isa, .threads = om.threads, .c0 = om.c0};
  return graph_to_cbor(bare);
}

}  // namespace

Digest128 run_digest(const Om& om) {
  const std::string parts = to_hex(hash128(om.code_bytes())) + to_hex(hash128(om.weights_bytes()));
  return hash128(parts + program_of(om));
}

bool run_alike(const Om& a, const Om& b) {
  return a.code_bytes() == b.code_bytes() && a.weights_bytes() == b.weights_bytes() &&
         program_of(a) == program_of(b);
}

void graph_from_cbor(std::string_view bytes, const std::string& where, Om& om) {
  if (!nests_little_cbor(bytes))
    throw Error(ExitCode::kOm, "the graph section nests too deeply", where);
  try {
    const json graph = parse_cbor(bytes);
    read_fields(graph, om, kOmFields);
    om.peak_gflops = real_in(graph, "peak_gflops");
    om.memory_gb_s = real_in(graph, "memory_gb_s");
    om.has_measured_roofs = graph.value("roofs", std::string()) == "measured";
    for (const json& tensor : graph.at("tensors")) om.tensors.push_back(tensor_from_json(tensor));
    for (const json& step : graph.at("steps")) om.steps.push_back(step_from_json(step));
    if (const auto texts = graph.find("texts"); texts != graph.end()) {
      read_fields(*texts, om.texts, kTextsFields);
      if (!std::ranges::all_of(om.texts.list, is_utf8))
        throw Error(ExitCode::kOm, "a text is not UTF-8");
    }
  } catch (const json::exception& e) {
    throw Error(ExitCode::kOm, std::string("the graph section is malformed: ") + e.what(), where);
  } catch (const Error& e) {
    throw Error(ExitCode::kOm, std::string("the graph section is malformed: ") + e.what(), where);
  }
}

}  // namespace aoe::runtime
