// conv_strassen: a 1x1 convolution of stride 1 is the product of its pixels with its weights; where the rewrite `strassen`
// marks it, it takes seven products of half the size instead of eight. See gemm_strassen.
// The nest: compiler/gemm/strassen_nest.h. Tested like every Impl by tests/compiler/impls_test.cpp.
#include "compiler/conv/conv_shape.h"
#include "compiler/conv/conv_weights.h"
#include "compiler/conv/image_store.h"
#include "compiler/gemm/strassen_plan.h"
#include "graph/analysis/strassen_product.h"

namespace aoe::compiler {
namespace {

MatMulShape product_of(const ConvShape& conv) {
  MatMulShape product;
  product.m = conv.batch * conv.out_pixels();
  product.n = conv.out_channels;
  product.k = conv.in_channels;
  return product;
}

/// Pixels are rows, numbered through all images.
class ImageOperands final : public StrassenOperands {
 public:
  ImageOperands(const Task& task, const FormatChoice& format, const StrassenCut& cut)
      : task_(task),
        conv_(conv_shape(task).value()),
        lanes_(cut.lanes()),
        bias_elements_(2 * cut.half_n()),
        format_(format.inputs[0]),
        in_(image_layout({conv_.batch, conv_.in_channels, 1, conv_.out_pixels()}, format_, lanes_)),
        store_(task, format, lanes_, kPixelsPerRow) {}

  Int a_index(Int row, Int k) const override { return in_.index(image(row), k, 0, pixel(row)); }
  bool is_a_padded() const override { return format_ == Format::kNC1HWC0; }
  float b_at(std::int64_t k, std::int64_t column) const override {
    return task_.inputs[1].constant->view().as<float>()[column * conv_.in_channels + k];
  }
  void add_constants(std::vector<PackedConstant>& constants) override {
    bias_ = constants.size();
    constants.push_back(pack_bias(task_, conv_, bias_elements_));
    store_.add_constants(constants);
  }
  /// The store knows itself which channels exist.
  void store(loopnest::Builder& builder, const KernelBuffers& buffers, Int row, Int column,
             std::optional<Int>, loopnest::Vec value) const override {
    if (conv_.has_bias) value = value + builder.load(buffers.constants[bias_], column, lanes_);
    store_.store(builder, buffers, {image(row), column / lanes_, pixel(row), 0}, value);
  }

 private:
  static constexpr std::int64_t kPixelsPerRow = 1;

  Int image(Int row) const { return conv_.batch == 1 ? Int(0) : row / conv_.out_pixels(); }
  Int pixel(Int row) const { return conv_.batch == 1 ? row : row % conv_.out_pixels(); }

  Task task_;
  ConvShape conv_;
  int lanes_;
  std::int64_t bias_elements_;
  Format format_;
  ImageLayout in_;
  ImageStore store_;
  std::size_t bias_ = 0;
};

class ConvStrassen final : public Impl {
 public:
  std::string_view name() const override { return "conv_strassen"; }
  int version() const override { return 2; }
  /// Sums of blocks cancel less well, by two bits.
  double error_growth(const Task&) const override { return 4; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    if (!graph::is_by_strassen(task.op)) return Unexpected("not marked by the rewrite `strassen`");
    const Result<ConvShape> s = conv_shape(task);
    if (!s) return Unexpected(s.error());
    if (task.anchor().type != "Conv2D" || !s->is_pointwise() || s->groups != 1 ||
        s->input_shuffle > 1)
      return Unexpected(to_string(*s) + " is no product of pixels and weights");
    if (!is_flattenable(task)) return Unexpected("an epilogue operand by rows or columns");
    if (auto halves = supports_strassen(product_of(*s), soc); !halves) return halves;
    return supports_float_convolution(task, *s);
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {image_format(task, "NC1HWC0", Format::kNC1HWC0, Format::kNC1HWC0),
            image_format(task, "NHWC", Format::kNHWC, Format::kNHWC)};
  }

  std::unique_ptr<Plan> plan(const Task& task, const FormatChoice& format,
                             const Soc& soc) const override {
    return std::make_unique<StrassenPlan>(
        task, format, soc, product_of(conv_shape(task).value()),
        [=](const StrassenCut& cut) { return std::make_shared<ImageOperands>(task, format, cut); });
  }
};

}  // namespace

void register_conv_strassen(ImplRegistry& registry) {
  registry.add(std::make_unique<ConvStrassen>());
}

}  // namespace aoe::compiler
