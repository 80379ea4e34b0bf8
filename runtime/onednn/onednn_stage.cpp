// Making a oneDNN primitive from what an om says of it, whatever that is, and running it.
#include "runtime/onednn/onednn_stage.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/size.h"
#include "runtime/onednn/onednn_primitive.h"
#include "runtime/threads/openmp_threads.h"

namespace aoe::runtime {

using dnnl::memory;
using nlohmann::json;

namespace {

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

/// oneDNN multiplies dimensions and strides without looking at what comes out.
void check_dimensions(const dnnl_memory_desc_t& desc) {
  std::int64_t elements = 1;
  const auto multiply = [&](std::int64_t by) {
    if (by < 0 || __builtin_mul_overflow(elements, std::max<std::int64_t>(by, 1), &elements) ||
        elements > kMostBytes)
      throw Error(ExitCode::kOm, "a oneDNN tensor is larger than any memory", "", kOneDnnAdvice);
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
              "", kOneDnnAdvice);
}

}  // namespace

const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

int onednn_argument_id(const std::string& word) {
  const auto is_numbered = [&](const std::string& stem) {
    return word.size() == stem.size() + 1 && word.starts_with(stem) && std::isdigit(word.back());
  };
  const int number = word.empty() ? 0 : word.back() - '0';
  if (is_numbered("source")) return DNNL_ARG_MULTIPLE_SRC + number;
  if (is_numbered("post_op")) return DNNL_ARG_ATTR_MULTIPLE_POST_OP(number) | DNNL_ARG_SRC_1;
  const auto at = argument_words().find(word);
  if (at == argument_words().end())
    throw Error(ExitCode::kOm, "unknown oneDNN argument '" + word + "'", "", kOneDnnAdvice);
  return at->second;
}

dnnl::primitive_desc_base make_onednn_primitive_desc(const json& stage, int threads) {
  const OpenMpThreads team(threads);
  return primitive_desc_from_json(stage, onednn_engine());
}

OneDnnStage::OneDnnStage(const json& stage, int threads, std::span<const std::size_t> buffer_bytes,
                         std::span<void* const> buffers)
    : desc_(make_onednn_primitive_desc(stage, threads)) {
  {
    const OpenMpThreads team(threads);
    dnnl_primitive_t made = nullptr;
    dnnl::error::wrap_c_api(dnnl_primitive_create(&made, desc_.get()), "primitive");
    primitive_.reset(made);
  }
  static const json kNothing = json::object();
  const json& stored = stage.contains("stored") ? stage.at("stored") : kNothing;
  const memory::desc scratchpad = desc_.query_md(dnnl::query::scratchpad_md);
  bool needs_scratchpad = scratchpad.get_size() > 0;
  for (const auto& [word, where] : stage.at("args").items()) {
    const int id = onednn_argument_id(word);
    const OneDnnArgumentPlace place(where);
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
    arguments_.push_back({memory(layout, onednn_engine(), DNNL_MEMORY_NONE), place});
    exec_arguments_.push_back({id, arguments_.back().object.get()});
  }
  // When none was planned, or other threads need a larger one.
  if (needs_scratchpad) add_own(DNNL_ARG_SCRATCHPAD, scratchpad);
  require_all_arguments(stage);
}

OneDnnStage::Own& OneDnnStage::add_own(int id, const memory::desc& layout) {
  Own& own = own_.emplace_back();
  own.bytes = AlignedMemory(layout.get_size());
  own.object = memory(layout, onednn_engine(), own.bytes.data());
  exec_arguments_.push_back({id, own.object.get()});
  return own;
}

/// A constant in the layout that the primitive wants here, where that is not the om's.
void OneDnnStage::repack_constant(const std::string& word, const json& stored,
                                  const OneDnnArgumentPlace& place,
                                  std::span<const std::size_t> buffer_bytes,
                                  std::span<void* const> buffers) {
  const memory::desc from = memory_desc_from_json(stored);
  const std::size_t bytes = reached_bytes(from), left = place.bytes_left(buffer_bytes);
  if (bytes > left || bytes == 0) refuse_place(word, bytes, left);
  const int id = onednn_argument_id(word);
  const memory::desc wanted = desc_.query_md(dnnl::query::exec_arg_md, id);
  if (from.dims() != wanted.dims())
    throw Error(ExitCode::kOm, "oneDNN argument '" + word + "' is stored with other dimensions", "",
                kOneDnnAdvice);
  if (place.buffer >= buffers.size() || buffers[place.buffer] == nullptr)
    throw Error(ExitCode::kOm, "oneDNN argument '" + word + "' is stored, but is no constant", "",
                kOneDnnAdvice);
  Own& own = add_own(id, wanted);
  memory in(from, onednn_engine(), static_cast<char*>(buffers[place.buffer]) + place.offset);
  dnnl::reorder(in, own.object).execute(stream_, in, own.object);
  stream_.wait();
}

/// oneDNN reads through null where an argument is missing.
void OneDnnStage::require_all_arguments(const json& stage) const {
  const auto require = [&](const std::string& word, int id) {
    const bool is_needed = desc_.query_md(dnnl::query::exec_arg_md, id).get_size() > 0;
    const auto is_it = [&](const dnnl_exec_arg_t& given) { return given.arg == id; };
    if (is_needed && std::ranges::none_of(exec_arguments_, is_it))
      throw Error(ExitCode::kOm, "oneDNN argument '" + word + "' is missing", "", kOneDnnAdvice);
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
    if (post_ops[i].at("kind") == "binary") require(word, onednn_argument_id(word));
  }
}

void OneDnnStage::run(std::span<void* const> buffers) {
  for (Argument& argument : arguments_)
    argument.bind(static_cast<char*>(buffers[argument.place.buffer]) + argument.place.offset);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(),
                             static_cast<int>(exec_arguments_.size()), exec_arguments_.data());
  if (status != dnnl_success)
    throw Error(ExitCode::kFailure, "oneDNN failed with status " + std::to_string(status));
}

}  // namespace aoe::runtime
