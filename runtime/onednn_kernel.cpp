// Running oneDNN primitives. Tested by tests/runtime/onednn_kernel_test.cpp.
#include "runtime/onednn_kernel.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "runtime/aligned_memory.h"
#include "runtime/onednn_primitive.h"

namespace aoe::runtime {
namespace {

using dnnl::memory;
using nlohmann::json;

/// Shared by all kernels of the process; oneDNN's CPU engine holds no state of ours.
const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// oneDNN shapes its work for the OpenMP team size of the moment when a primitive is made.
class TeamSize {
 public:
  explicit TeamSize(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~TeamSize() { omp_set_num_threads(before_); }
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
};

/// oneDNN's number for an argument by our word for it.
int argument_id(const std::string& word) {
  static const std::map<std::string, int> kWords = {
      {"src", DNNL_ARG_SRC},     {"src1", DNNL_ARG_SRC_1},
      {"dst", DNNL_ARG_DST},     {"weights", DNNL_ARG_WEIGHTS},
      {"bias", DNNL_ARG_BIAS},   {"scale", DNNL_ARG_SCALE},
      {"shift", DNNL_ARG_SHIFT}, {"from", DNNL_ARG_FROM},
      {"to", DNNL_ARG_TO},       {"scratchpad", DNNL_ARG_SCRATCHPAD}};
  const auto number_after = [&](const char* prefix) {
    return std::stoi(word.substr(std::strlen(prefix)));
  };
  if (word.starts_with("source")) return DNNL_ARG_MULTIPLE_SRC + number_after("source");
  if (word.starts_with("post_op"))
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(number_after("post_op")) | DNNL_ARG_SRC_1;
  const auto at = kWords.find(word);
  if (at == kWords.end()) throw Error(ExitCode::kOm, "unknown oneDNN argument '" + word + "'");
  return at->second;
}

dnnl::primitive_desc_base make_desc(const json& params, int threads) {
  const TeamSize team(threads);
  return primitive_desc_from_json(params, cpu_engine());
}

}  // namespace

struct OneDnnKernel::State {
  State(const json& params, int threads);
  void take_over_residual(std::span<void* const> buffers) const;

  struct Argument {
    memory object;
    std::size_t buffer;
    void* bound = nullptr;

    void bind(void* address) {
      if (bound == address) return;
      object.set_data_handle(address);
      bound = address;
    }
  };
  dnnl::primitive_desc_base desc;
  dnnl::primitive primitive;
  dnnl::stream stream{cpu_engine()};
  std::vector<Argument> arguments;
  std::vector<dnnl_exec_arg_t> exec_arguments;  ///< the same, as oneDNN takes them
  AlignedMemory own_scratchpad;  ///< when there is no planned one, or it is too small
  memory own_scratchpad_object;
  std::size_t residual_buffer = 0, dst_buffer = 0, residual_bytes = 0;
};

OneDnnKernel::State::State(const json& params, int threads) : desc(make_desc(params, threads)) {
  {
    const TeamSize team(threads);
    dnnl_primitive_t made = nullptr;
    dnnl::error::wrap_c_api(dnnl_primitive_create(&made, desc.get()), "primitive");
    primitive.reset(made);
  }
  const auto add = [&](int id, const memory::desc& layout, std::size_t buffer) {
    arguments.push_back({memory(layout, cpu_engine(), DNNL_MEMORY_NONE), buffer});
    exec_arguments.push_back({id, arguments.back().object.get()});
  };
  const std::size_t scratchpad_bytes = desc.query_md(dnnl::query::scratchpad_md).get_size();
  const bool has_planned_scratchpad = params.value("scratchpad_bytes", std::size_t{0}) >=
                                      std::max<std::size_t>(scratchpad_bytes, 1);
  for (const auto& [word, buffer] : params.at("args").items()) {
    const int id = argument_id(word);
    if (id == DNNL_ARG_SCRATCHPAD && !has_planned_scratchpad) continue;
    memory::desc layout = desc.query_md(dnnl::query::exec_arg_md, id);
    // Binding a buffer makes oneDNN write zeros into padded lanes. Constants lie in read-only memory and have theirs
    // already, so they go as flat bytes, of which only the address is used.
    if (id == DNNL_ARG_WEIGHTS || id == DNNL_ARG_BIAS)
      layout = memory::desc({static_cast<memory::dim>(layout.get_size())}, memory::data_type::u8,
                            memory::format_tag::a);
    add(id, layout, buffer.get<std::size_t>());
  }
  if (scratchpad_bytes > 0 && !has_planned_scratchpad) {
    own_scratchpad = AlignedMemory(scratchpad_bytes);
    own_scratchpad_object =
        memory(desc.query_md(dnnl::query::scratchpad_md), cpu_engine(), own_scratchpad.data());
    exec_arguments.push_back({DNNL_ARG_SCRATCHPAD, own_scratchpad_object.get()});
  }
  if (params.contains("residual")) {
    residual_buffer = params.at("residual");
    dst_buffer = params.at("args").at("dst");
    residual_bytes = desc.query_md(dnnl::query::dst_md).get_size();
  }
}

/// The sum post-op adds to what the destination holds: the residual, which the memory plan usually put there.
void OneDnnKernel::State::take_over_residual(std::span<void* const> buffers) const {
  if (residual_bytes == 0 || buffers[residual_buffer] == buffers[dst_buffer]) return;
  auto* to = static_cast<char*>(buffers[dst_buffer]);
  const auto* from = static_cast<const char*>(buffers[residual_buffer]);
  constexpr std::size_t kPieceBytes = 64 << 10;
  const std::size_t pieces = (residual_bytes + kPieceBytes - 1) / kPieceBytes;
#pragma omp parallel for
  for (std::size_t i = 0; i < pieces; ++i)
    std::memcpy(to + i * kPieceBytes, from + i * kPieceBytes,
                std::min(kPieceBytes, residual_bytes - i * kPieceBytes));
}

OneDnnKernel::OneDnnKernel(std::unique_ptr<State> state) : state_(std::move(state)) {
}
OneDnnKernel::~OneDnnKernel() = default;

std::unique_ptr<OneDnnKernel> OneDnnKernel::create(const json& params, int threads) {
  const std::string made_by = params.value("onednn", "");
  if (made_by != onednn_version())
    throw Error(ExitCode::kOm,
                "was compiled with oneDNN " + made_by + ", this is oneDNN " + onednn_version(), "",
                "compile the model again");
  try {
    return std::unique_ptr<OneDnnKernel>(
        new OneDnnKernel(std::make_unique<State>(params, threads)));
  } catch (const dnnl::error& e) {
    throw Error(ExitCode::kOm, std::string("oneDNN cannot make a primitive here: ") + e.what(),
                params.at("primitive").get<std::string>(), "compile the model for this machine");
  } catch (const json::exception& e) {
    throw Error(ExitCode::kOm, std::string("malformed oneDNN parameters: ") + e.what(), "",
                "compile the model again");
  }
}

void OneDnnKernel::run(std::span<void* const> buffers) {
  State& state = *state_;
  state.take_over_residual(buffers);
  for (State::Argument& argument : state.arguments) argument.bind(buffers[argument.buffer]);
  const dnnl_status_t status = dnnl_primitive_execute(state.primitive.get(), state.stream.get(),
                                                      static_cast<int>(state.exec_arguments.size()),
                                                      state.exec_arguments.data());
  if (status != dnnl_success)
    throw Error(ExitCode::kFailure, "oneDNN failed with status " + std::to_string(status));
}

Result<OneDnnChoice> probe(const json& params, int threads) {
  try {
    const dnnl::primitive_desc_base desc = make_desc(params, threads);
    OneDnnChoice choice;
    choice.implementation = desc.impl_info_str();
    choice.scratchpad_bytes = desc.query_md(dnnl::query::scratchpad_md).get_size();
    if (params.contains("weights")) {
      const memory::desc weights = desc.query_md(dnnl::query::weights_md);
      choice.weights = memory_desc_to_json(weights);
      choice.weights_bytes = weights.get_size();
    }
    return choice;
  } catch (const dnnl::error& e) {
    return Unexpected(std::string("oneDNN has no such primitive: ") + e.what());
  }
}

void repack(const json& from, const void* source, const json& to, void* destination) {
  const dnnl::engine& engine = cpu_engine();
  memory in(memory_desc_from_json(from), engine, const_cast<void*>(source));
  memory out(memory_desc_from_json(to), engine, destination);
  dnnl::stream stream(engine);
  dnnl::reorder(in, out).execute(stream, in, out);
  stream.wait();
}

}  // namespace aoe::runtime
