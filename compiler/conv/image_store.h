// ImageStore: the last step of every image kernel. Takes a vector of neighbouring output channels
// of one pixel, applies the task's epilogue, keeps the padding lanes of NC1HWC0 zero, and writes it
// in the output's Format.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "compiler/conv/conv_shape.h"
#include "compiler/conv/image_layout.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// Where a vector of results belongs: channels [vector * lanes, (vector + 1) * lanes) of pixel (n,
/// row, column).
struct ImagePosition {
  loopnest::Int n, vector, row, column;
};

/// Can the epilogue of this 4-D task be fused into an image kernel? Says why not.
Result<void> supports_image_epilogue(const Task& task, EpilogueTypes types = EpilogueTypes::kFloat);
/// What generated convolutions of float32 need besides: float32, and weights that are constant.
Result<void> supports_float_convolution(const Task& task, const ConvShape& shape);

/// Formats for all of the task's inputs when its image input is stored as `in` and its output as
/// `out`: epilogue operands with all channels lie like the output, others as they are.
FormatChoice image_format(const Task& task, const std::string& choice_name, Format in, Format out);

/// Of float32 convolutions: blocks of channels and channels last, and images of up to `planar_channels` as they come.
std::vector<FormatChoice> convolution_formats(const Task& task, std::int64_t planar_channels);

/// All of the epilogue's operands have the output's height and width, or none: pixels may be
/// numbered in one row.
bool is_flattenable(const Task& task);

class ImageStore {
 public:
  /// `flat`: positions count all pixels of an image in one row, cut into rows of `flat_row` pixels.
  ImageStore(const Task& task, const FormatChoice& format, int lanes,
             std::optional<std::int64_t> flat_row = {});
  /// Stores where `out` says instead of the task's output, for kernels that go on from there.
  ImageStore(const Task& task, const FormatChoice& format, int lanes, const ImageLayout& out);

  /// Appends the constants that the epilogue reads, and remembers their places.
  void add_constants(std::vector<PackedConstant>& constants);

  /// Of the epilogue (emit/epilogue.h).
  bool has_functions() const { return aoe::compiler::has_functions(task_); }

  /// Epilogue and store. Vectors beyond the last channel are not stored.
  void store(loopnest::Builder& builder, const KernelBuffers& buffers, const ImagePosition& at,
             loopnest::Vec value) const;
  /// Partial sums: written and read back without the epilogue.
  void store_partial(loopnest::Builder& builder, const KernelBuffers& buffers,
                     const ImagePosition& at, loopnest::Vec value) const;
  loopnest::Vec load_partial(loopnest::Builder& builder, const KernelBuffers& buffers,
                             const ImagePosition& at) const;

 private:
  struct Operand {
    ImageLayout layout;
    std::optional<float> scalar;          ///< a constant of one element
    std::optional<std::size_t> constant;  ///< index of the packed constant
  };
  loopnest::Int index(const ImageLayout& layout, const ImagePosition& at) const;
  std::optional<loopnest::Int> active(const ImageLayout& layout, const ImagePosition& at) const;
  loopnest::Vec load_operand(loopnest::Builder& builder, const KernelBuffers& buffers,
                             std::size_t input, const ImagePosition& at) const;

  Task task_;
  Format format_;
  int lanes_;
  std::int64_t channels_;
  ImageLayout layout_;
  std::vector<std::optional<Operand>> operands_;  ///< by task input; only those of the epilogue
};

}  // namespace aoe::compiler
