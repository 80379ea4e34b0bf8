// Running oneDNN primitives. Tested by tests/runtime/onednn_kernel_test.cpp.
#include "runtime/onednn_kernel.h"

#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/size.h"
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

constexpr const char* kAdvice = "compile the model again";

/// Arguments that are not numbered.
const std::map<std::string, int>& argument_words() {
  static const std::map<std::string, int> kWords = {
      {"src", DNNL_ARG_SRC},
      {"src1", DNNL_ARG_SRC_1},
      {"dst", DNNL_ARG_DST},
      {"weights", DNNL_ARG_WEIGHTS},
      {"bias", DNNL_ARG_BIAS},
      {"scale", DNNL_ARG_SCALE},
      {"shift", DNNL_ARG_SHIFT},
      {"src_iter", DNNL_ARG_SRC_ITER},
      {"src_iter_c", DNNL_ARG_SRC_ITER_C},
      {"weights_iter", DNNL_ARG_WEIGHTS_ITER},
      {"weights_peephole", DNNL_ARG_WEIGHTS_PEEPHOLE},
      {"dst_iter", DNNL_ARG_DST_ITER},
      {"dst_iter_c", DNNL_ARG_DST_ITER_C},
      {"scratchpad", DNNL_ARG_SCRATCHPAD},
  };
  return kWords;
}

/// oneDNN's number for an argument by our word for it: "src", "source2", "post_op0", ...
int argument_id(const std::string& word) {
  const auto is_numbered = [&](const std::string& stem) {
    return word.size() == stem.size() + 1 && word.starts_with(stem) && std::isdigit(word.back());
  };
  const int number = word.empty() ? 0 : word.back() - '0';
  if (is_numbered("source")) return DNNL_ARG_MULTIPLE_SRC + number;
  if (is_numbered("post_op")) return DNNL_ARG_ATTR_MULTIPLE_POST_OP(number) | DNNL_ARG_SRC_1;
  const auto at = argument_words().find(word);
  if (at == argument_words().end())
    throw Error(ExitCode::kOm, "unknown oneDNN argument '" + word + "'", "", kAdvice);
  return at->second;
}

/// Constants whose layout oneDNN chose.
constexpr const char* kWeights[] = {"weights", "weights_iter"};

dnnl::primitive_desc_base make_desc(const json& stage, int threads) {
  const TeamSize team(threads);
  return primitive_desc_from_json(stage, cpu_engine());
}

/// Where an argument lies: "args" hold a buffer, or [buffer, offset in bytes].
struct ArgumentPlace {
  explicit ArgumentPlace(const json& j)
      : buffer(j.is_array() ? j.at(0).get<std::size_t>() : j.get<std::size_t>()),
        offset(j.is_array() ? j.at(1).get<std::size_t>() : 0) {}

  std::size_t bytes_left(std::span<const std::size_t> buffer_bytes) const {
    return buffer < buffer_bytes.size() && offset <= buffer_bytes[buffer]
               ? buffer_bytes[buffer] - offset
               : 0;
  }

  std::size_t buffer;
  std::size_t offset;
};

/// oneDNN multiplies dimensions and strides without looking at what comes out.
void check_dimensions(const dnnl_memory_desc_t& desc) {
  std::int64_t elements = 1;
  const auto multiply = [&](std::int64_t by) {
    if (by < 0 || __builtin_mul_overflow(elements, std::max<std::int64_t>(by, 1), &elements) ||
        elements > kMostBytes)
      throw Error(ExitCode::kOm, "a oneDNN tensor is larger than any memory", "", kAdvice);
  };
  for (int d = 0; d < desc.ndims; ++d) multiply(desc.padded_dims[d]);
  if (desc.format_kind != dnnl_blocked) return;
  for (int d = 0; d < desc.ndims; ++d) {
    elements = 1;
    multiply(desc.padded_dims[d]);
    multiply(desc.format_desc.blocking.strides[d]);
  }
}

/// Bytes from a tensor's first to behind its last element. With strides these are fewer than oneDNN counts, which takes
/// whole steps of the slowest dimension: tensors may lie interleaved.
std::size_t reached_bytes(const memory::desc& desc) {
  const dnnl_memory_desc_t& raw = desc.data;
  check_dimensions(raw);
  if (raw.ndims == 0 || raw.data_type != dnnl_f32 || raw.format_kind != dnnl_blocked ||
      raw.format_desc.blocking.inner_nblks > 0)
    return desc.get_size();
  std::int64_t last = raw.offset0;
  for (int d = 0; d < raw.ndims; ++d)
    last += (raw.padded_dims[d] - 1) * raw.format_desc.blocking.strides[d];
  return sizeof(float) * static_cast<std::size_t>(last + 1);
}

/// One primitive with its memory objects.
class Stage {
 public:
  Stage(const json& stage, int threads, std::span<const std::size_t> buffer_bytes,
        std::span<void* const> buffers);
  void run(std::span<void* const> buffers);
  std::size_t dst_bytes() const { return desc_.query_md(dnnl::query::dst_md).get_size(); }

 private:
  /// Memory that no plan has: a constant in another layout than the om's, a scratchpad.
  struct Own {
    AlignedMemory bytes;
    memory object;
  };
  struct Argument {
    memory object;
    ArgumentPlace place;
    void* bound = nullptr;

    void bind(void* address) {
      if (bound == address) return;
      object.set_data_handle(address);
      bound = address;
    }
  };

  Own& add_own(int id, const memory::desc& layout);
  void repack_constant(const std::string& word, const json& stored, const ArgumentPlace& place,
                       std::span<const std::size_t> buffer_bytes, std::span<void* const> buffers);
  void require_all_arguments(const json& stage) const;

  dnnl::primitive_desc_base desc_;
  dnnl::primitive primitive_;
  dnnl::stream stream_{cpu_engine()};
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> exec_arguments_;  ///< the same, as oneDNN takes them
  std::vector<Own> own_;
};

/// Binding a buffer makes oneDNN write zeros into padded lanes. Constants lie in read-only memory and have theirs already,
/// so they go as flat bytes, of which only the address is used.
memory::desc flat(const memory::desc& layout) {
  return {
      {static_cast<memory::dim>(layout.get_size())}, memory::data_type::u8, memory::format_tag::a};
}

[[noreturn]] void refuse_place(const std::string& word, std::size_t bytes, std::size_t left) {
  throw Error(ExitCode::kOm,
              "oneDNN argument '" + word + "' has " + std::to_string(bytes) + " bytes, its place " +
                  std::to_string(left),
              "", kAdvice);
}

Stage::Stage(const json& stage, int threads, std::span<const std::size_t> buffer_bytes,
             std::span<void* const> buffers)
    : desc_(make_desc(stage, threads)) {
  {
    const TeamSize team(threads);
    dnnl_primitive_t made = nullptr;
    dnnl::error::wrap_c_api(dnnl_primitive_create(&made, desc_.get()), "primitive");
    primitive_.reset(made);
  }
  static const json kNothing = json::object();
  const json& stored = stage.contains("stored") ? stage.at("stored") : kNothing;
  const memory::desc scratchpad = desc_.query_md(dnnl::query::scratchpad_md);
  bool needs_scratchpad = scratchpad.get_size() > 0;
  for (const auto& [word, where] : stage.at("args").items()) {
    const int id = argument_id(word);
    const ArgumentPlace place(where);
    memory::desc layout = desc_.query_md(dnnl::query::exec_arg_md, id);
    if (stored.contains(word) && memory_desc_from_json(stored.at(word)) != layout) {
      repack_constant(word, stored.at(word), place, buffer_bytes, buffers);
      continue;
    }
    const std::size_t bytes = reached_bytes(layout);
    const bool fits = bytes <= place.bytes_left(buffer_bytes);
    if (id == DNNL_ARG_SCRATCHPAD) {
      if (!needs_scratchpad || !fits) continue;
      needs_scratchpad = false;
    }
    if (!fits || bytes == 0) refuse_place(word, bytes, place.bytes_left(buffer_bytes));
    if (id == DNNL_ARG_WEIGHTS || id == DNNL_ARG_WEIGHTS_ITER || id == DNNL_ARG_WEIGHTS_PEEPHOLE ||
        id == DNNL_ARG_BIAS)
      layout = flat(layout);
    arguments_.push_back({memory(layout, cpu_engine(), DNNL_MEMORY_NONE), place});
    exec_arguments_.push_back({id, arguments_.back().object.get()});
  }
  // When none was planned, or other threads need a larger one.
  if (needs_scratchpad) add_own(DNNL_ARG_SCRATCHPAD, scratchpad);
  require_all_arguments(stage);
}

Stage::Own& Stage::add_own(int id, const memory::desc& layout) {
  Own& own = own_.emplace_back();
  own.bytes = AlignedMemory(layout.get_size());
  own.object = memory(layout, cpu_engine(), own.bytes.data());
  exec_arguments_.push_back({id, own.object.get()});
  return own;
}

/// A constant in the layout that the primitive wants here, where that is not the om's.
void Stage::repack_constant(const std::string& word, const json& stored, const ArgumentPlace& place,
                            std::span<const std::size_t> buffer_bytes,
                            std::span<void* const> buffers) {
  const memory::desc from = memory_desc_from_json(stored);
  const std::size_t bytes = reached_bytes(from), left = place.bytes_left(buffer_bytes);
  if (bytes > left || bytes == 0) refuse_place(word, bytes, left);
  const int id = argument_id(word);
  const memory::desc wanted = desc_.query_md(dnnl::query::exec_arg_md, id);
  if (from.dims() != wanted.dims())
    throw Error(ExitCode::kOm, "oneDNN argument '" + word + "' is stored with other dimensions", "",
                kAdvice);
  if (place.buffer >= buffers.size() || buffers[place.buffer] == nullptr)
    throw Error(ExitCode::kOm, "oneDNN argument '" + word + "' is stored, but is no constant", "",
                kAdvice);
  Own& own = add_own(id, wanted);
  memory in(from, cpu_engine(), static_cast<char*>(buffers[place.buffer]) + place.offset);
  dnnl::reorder(in, own.object).execute(stream_, in, own.object);
  stream_.wait();
}

/// oneDNN reads through null where an argument is missing.
void Stage::require_all_arguments(const json& stage) const {
  const auto require = [&](const std::string& word, int id) {
    const bool is_needed = desc_.query_md(dnnl::query::exec_arg_md, id).get_size() > 0;
    const auto is_it = [&](const dnnl_exec_arg_t& given) { return given.arg == id; };
    if (is_needed && std::ranges::none_of(exec_arguments_, is_it))
      throw Error(ExitCode::kOm, "oneDNN argument '" + word + "' is missing", "", kAdvice);
  };
  for (const auto& [word, id] : argument_words()) {
    // Layer normalization reports all three, whichever it reads.
    const bool is_unused = (word == "weights" && !stage.contains(word)) ||
                           (word == "scale" && !stage.value("has_scale", false)) ||
                           (word == "shift" && !stage.value("has_shift", false));
    if (!is_unused) require(word, id);
  }
  if (!stage.contains("post_ops")) return;
  const json& post_ops = stage.at("post_ops");
  for (std::size_t i = 0; i < post_ops.size(); ++i) {
    const std::string word = "post_op" + std::to_string(i);
    if (post_ops[i].at("kind") == "binary") require(word, argument_id(word));
  }
}

void Stage::run(std::span<void* const> buffers) {
  for (Argument& argument : arguments_)
    argument.bind(static_cast<char*>(buffers[argument.place.buffer]) + argument.place.offset);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(),
                             static_cast<int>(exec_arguments_.size()), exec_arguments_.data());
  if (status != dnnl_success)
    throw Error(ExitCode::kFailure, "oneDNN failed with status " + std::to_string(status));
}

}  // namespace

struct OneDnnKernel::State {
  State(const json& params, int threads, std::span<const std::size_t> buffer_bytes,
        std::span<void* const> buffers);
  void take_over_residual(std::span<void* const> buffers) const;

  std::vector<Stage> stages;
  std::size_t residual_buffer = 0, dst_buffer = 0, residual_bytes = 0;
};

OneDnnKernel::State::State(const json& params, int threads,
                           std::span<const std::size_t> buffer_bytes,
                           std::span<void* const> buffers) {
  for (const json& stage : params.at("stages"))
    stages.emplace_back(stage, threads, buffer_bytes, buffers);
  if (!params.contains("residual")) return;
  const ArgumentPlace residual(params.at("residual"));
  residual_buffer = residual.buffer;
  dst_buffer = ArgumentPlace(params.at("stages").at(0).at("args").at("dst")).buffer;
  residual_bytes = stages.at(0).dst_bytes();
  const bool is_inside = dst_buffer < buffer_bytes.size() && residual.offset == 0 &&
                         residual_bytes <= buffer_bytes[dst_buffer] &&
                         residual_bytes <= residual.bytes_left(buffer_bytes);
  if (!is_inside)
    throw Error(ExitCode::kOm, "the residual and the output differ in size", "", kAdvice);
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

std::string OneDnnKernel::fault(const json& params, const std::vector<bool>& is_writable) {
  static constexpr std::string_view kWritten[] = {"dst", "dst_iter", "dst_iter_c", "scratchpad"};
  try {
    if (params.at("stages").empty()) return "has no primitive";
    for (const json& stage : params.at("stages")) {
      for (const auto& [word, where] : stage.at("args").items()) {
        const ArgumentPlace place(where);
        const bool is_written = std::ranges::count(kWritten, word) > 0;
        if (place.buffer >= is_writable.size() || (is_written && !is_writable[place.buffer]))
          return "has oneDNN's '" + word + "' in buffer " + std::to_string(place.buffer) +
                 ", which is not for that";
      }
    }
    if (params.contains("residual") &&
        ArgumentPlace(params.at("stages").at(0).at("args").at("dst")).offset != 0)
      return "adds a residual to the middle of its output";
    return {};
  } catch (const json::exception& e) {
    return std::string("has malformed parameters: ") + e.what();
  }
}

std::unique_ptr<OneDnnKernel> OneDnnKernel::create(const json& params, int threads,
                                                   std::span<const std::size_t> buffer_bytes,
                                                   std::span<void* const> buffers) {
  try {
    return std::unique_ptr<OneDnnKernel>(
        new OneDnnKernel(std::make_unique<State>(params, threads, buffer_bytes, buffers)));
  } catch (const dnnl::error& e) {
    throw Error(ExitCode::kOm, std::string("oneDNN cannot make a primitive here: ") + e.what(), "",
                "compile the model for this machine");
  } catch (const json::exception& e) {
    throw Error(ExitCode::kOm, std::string("malformed oneDNN parameters: ") + e.what(), "",
                kAdvice);
  }
}

void OneDnnKernel::run(std::span<void* const> buffers) {
  state_->take_over_residual(buffers);
  for (Stage& stage : state_->stages) stage.run(buffers);
}

Result<OneDnnChoice> probe(const json& stage, int threads) {
  try {
    const dnnl::primitive_desc_base desc = make_desc(stage, threads);
    OneDnnChoice choice;
    choice.implementation = desc.impl_info_str();
    choice.scratchpad_bytes = desc.query_md(dnnl::query::scratchpad_md).get_size();
    for (const char* word : kWeights) {
      if (!stage.contains(word)) continue;
      const memory::desc layout = desc.query_md(dnnl::query::exec_arg_md, argument_id(word));
      choice.weights[word] = {named_layout(layout), layout.get_size()};
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
