// OneDnnStage: one primitive of a OneDnnKernel with its memory objects, made from what an om says of it (onednn_primitive.h). The only
// header besides onednn_primitive.h that shows oneDNN's types; internal to runtime/.
#pragma once

#include <cstddef>
#include <dnnl.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/aligned_memory.h"

namespace aoe::runtime {

inline constexpr const char* kOneDnnAdvice = "compile the model again";

/// Shared by all kernels of the process; oneDNN's CPU engine holds no state of ours.
const dnnl::engine& onednn_engine();

/// What the primitive of a stage is for a team of so many threads.
dnnl::primitive_desc_base make_onednn_primitive_desc(const nlohmann::json& stage, int threads);

/// oneDNN's number for an argument by our word for it: "src", "source2", "post_op0", ... Throws Error(kOm).
int onednn_argument_id(const std::string& word);

/// Where an argument lies: "args" hold a buffer, or [buffer, offset in bytes].
struct OneDnnArgumentPlace {
  explicit OneDnnArgumentPlace(const nlohmann::json& j)
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

/// One primitive with its memory objects.
class OneDnnStage {
 public:
  OneDnnStage(const nlohmann::json& stage, int threads, std::span<const std::size_t> buffer_bytes,
              std::span<void* const> buffers);
  void run(std::span<void* const> buffers);
  std::size_t dst_bytes() const { return desc_.query_md(dnnl::query::dst_md).get_size(); }

 private:
  /// Memory that no plan has: a constant in another layout than the om's, a scratchpad.
  struct Own {
    AlignedMemory bytes;
    dnnl::memory object;
  };
  struct Argument {
    dnnl::memory object;
    OneDnnArgumentPlace place;
    void* bound = nullptr;

    void bind(void* address) {
      if (bound == address) return;
      object.set_data_handle(address);
      bound = address;
    }
  };

  Own& add_own(int id, const dnnl::memory::desc& layout);
  void repack_constant(const std::string& word, const nlohmann::json& stored,
                       const OneDnnArgumentPlace& place, std::span<const std::size_t> buffer_bytes,
                       std::span<void* const> buffers);
  void require_all_arguments(const nlohmann::json& stage) const;

  dnnl::primitive_desc_base desc_;
  dnnl::primitive primitive_;
  dnnl::stream stream_{onednn_engine()};
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> exec_arguments_;  ///< the same, as oneDNN takes them
  std::vector<Own> own_;
};

}  // namespace aoe::runtime
