// Every operator whose calls can be sliced, on the shape lines of this folder and the small calls of docs/operators.md: in each way in
// which dimensions of its inputs could be unknown, where it says that slices are made apart, they are.
#include "reference/slicing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>

#include "base/error.h"
#include "graph/analysis/slice_regions.h"
#include "reference/tensors/axes.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

using reference::kWhole;

constexpr std::int64_t kMostElements =
    100'000;  ///< of what a call reads and makes: the reference is slow
constexpr std::size_t kMostWays = 3000;

/// A tensor with its memory.
struct Held {
  explicit Held(const TensorDesc& desc) : values(std::make_shared<Constant>(desc)) {}
  Tensor view() const { return {values->desc(), values->mutable_data()}; }
  std::shared_ptr<Constant> values;
};

std::shared_ptr<Constant> slices_of(const Tensor& whole, int axis, std::int64_t first,
                                    std::int64_t count) {
  TensorDesc desc = whole.desc;
  desc.shape[static_cast<std::size_t>(axis)] = count;
  auto part = std::make_shared<Constant>(desc);
  const reference::AxisView view =
      reference::view_axis(whole.desc.shape, static_cast<std::size_t>(axis));
  const std::size_t bytes = static_cast<std::size_t>(view.inner) * size_bytes(desc.dtype);
  for (std::int64_t o = 0; o < view.outer; ++o)
    std::memcpy(
        static_cast<char*>(part->mutable_data()) + static_cast<std::size_t>(o * count) * bytes,
        whole.as<char>() + static_cast<std::size_t>(o * view.dim + first) * bytes,
        static_cast<std::size_t>(count) * bytes);
  return part;
}

class Call {
 public:
  explicit Call(const ShapeLine& line) : line_(line) {
    for (const auto& input : line.inputs) whole_.push_back(input ? input->view() : Tensor{});
  }

  bool is_small() const {
    std::int64_t elements = 0;
    for (const Tensor& input : whole_)
      if (input.is_present()) elements += input.elements();
    for (const TensorDesc& output : line_.task.outputs) elements += element_count(output.shape);
    return elements <= kMostElements;
  }

  /// The ways in which dimensions of one length could be unknown: an axis for each input.
  std::vector<std::vector<int>> ways() const {
    std::vector<std::vector<int>> all = {{}};
    for (const Tensor& input : whole_) {
      std::vector<std::vector<int>> longer;
      for (const std::vector<int>& way : all)
        for (int axis = kWhole; axis < std::ssize(input.desc.shape); ++axis) {
          if (axis != kWhole && !input.is_present()) break;
          if (longer.size() == kMostWays) break;
          longer.push_back(way);
          longer.back().push_back(axis);
        }
      all = std::move(longer);
    }
    std::erase_if(all, [&](const std::vector<int>& way) { return length_of(way) < 2; });
    return all;
  }

  /// The axes of the outputs where the call can be sliced this way.
  std::optional<std::vector<int>> sliced(const std::vector<int>& way) const {
    std::vector<Tensor> inputs = whole_;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (way[i] == kWhole) continue;
      inputs[i].data = nullptr;
      inputs[i].desc.shape[static_cast<std::size_t>(way[i])] = kUnknownDim;
    }
    std::vector<TensorDesc> outputs;
    try {
      outputs = reference::infer(line_.task.op, inputs, line_.task.outputs.size());
    } catch (const reference::Undetermined&) {
      return {};
    } catch (const Error&) {
      return {};  // of these values, or dimensions that must agree
    }
    std::vector<int> axes;
    for (const TensorDesc& output : outputs) {
      const std::optional<int> axis = graph::sliced_axis(output, {});
      if (!axis) return {};
      axes.push_back(*axis);
    }
    const reference::Slicing slicing{.attrs = line_.task.op.attrs,
                                     .version = line_.task.op.version,
                                     .inputs = inputs,
                                     .axes = way,
                                     .outputs = outputs,
                                     .output_axes = axes};
    if (!reference::can_be_sliced(line_.task.op, slicing)) return {};
    return axes;
  }

  void expect_slices(const std::vector<int>& way, const std::vector<int>& output_axes) const {
    const std::vector<Held> wanted = run(whole_);
    const std::int64_t length = length_of(way);
    for (const auto& [first, count] :
         {std::pair{std::int64_t{0}, length / 2}, std::pair{length / 2, length - length / 2}}) {
      std::vector<Tensor> inputs = whole_;
      std::vector<std::shared_ptr<Constant>> parts;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (way[i] == kWhole) continue;
        parts.push_back(slices_of(whole_[i], way[i], first, count));
        inputs[i] = parts.back()->view();
      }
      const std::vector<Held> got = run(inputs);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto expected = slices_of(wanted[i].view(), output_axes[i], first, count);
        ASSERT_EQ(to_string(got[i].view().desc), to_string(expected->desc()));
        ASSERT_EQ(std::memcmp(got[i].view().data, expected->data(), expected->size_bytes()), 0)
            << "output " << i << ", slices " << first << " to " << first + count;
      }
    }
  }

 private:
  /// 0: it has none, or several.
  std::int64_t length_of(const std::vector<int>& way) const {
    std::int64_t length = 0;
    for (std::size_t i = 0; i < way.size(); ++i) {
      if (way[i] == kWhole) continue;
      const std::int64_t own = whole_[i].desc.shape[static_cast<std::size_t>(way[i])];
      if (length != 0 && own != length) return 0;
      length = own;
    }
    return length;
  }

  std::vector<Held> run(const std::vector<Tensor>& inputs) const {
    std::vector<Held> results;
    std::vector<Tensor> outputs;
    for (const TensorDesc& desc :
         reference::infer(line_.task.op, inputs, line_.task.outputs.size())) {
      results.emplace_back(desc);
      outputs.push_back(results.back().view());
    }
    reference::run(line_.task.op, inputs, outputs);
    return results;
  }

  const ShapeLine& line_;
  std::vector<Tensor> whole_;
};

/// What those files have of one image alone, or with other numbers.
const std::vector<std::string> kOfSeveral = {
    "BatchNorm@15 in=3x4x5x5 in=4:const in=4:const in=4:const in=4:pos:const",
    "BatchNorm@15 in=3x4x5x5 in=4:const in=4:const in=4:const in=4:pos:const training_mode=1 "
    "outputs=3",
    "Reshape in=4x6x5 in=[-1,30]",
    "Reshape in=4x6 in=[0,2,3]",
    "Reshape in=1x4x6 in=[4,6]",
    "Reshape in=2x3x4 in=[-1,4]",
    "Expand in=4x1 in=[1,33]",
    "Expand in=4x33 in=[2,1,33]",
    "Resize in=3x2x6x6 in=- in=4:value=1",
    "Upsample@7 in=3x2x6x6 scales=[1.0,1.0,2.0,2.0]",
    "Gemm in=7x40 in=40x24:const in=7x24 transA=0",
    "Gemm in=40x7 in=40x24:const in=7x1 transA=1",
    "MatMulV2 in=4x5x7 in=4x7x6",
    "MatMulV2 in=4x5x7 in=7x6:const",
    "MatMulV2 in=5x7 in=4x7x6",
    "MatMulV2 in=4x7 in=4x7x6",
    "Einsum in=4x5x7 in=4x7x6 equation=\"bij,bjk->bik\"",
    "Einsum in=4x4 equation=\"ii->i\"",
    "LayerNorm in=4x4x6 in=4x1x6:const",
    "SoftmaxV2@1 in=3x4x5 axis=2",
    "ConcatV2 in=4x5 in=4x5 axis=0",
    "PadV3@11 in=4x6 in=[0,1,0,1]"};

std::vector<std::string> all_lines() {
  std::vector<std::string> lines = read_shape_lines(AOE_TEST_DIR "/../docs/operators/calls.txt");
  lines.insert(lines.end(), kOfSeveral.begin(), kOfSeveral.end());
  for (const auto& file : std::filesystem::directory_iterator(AOE_TEST_DIR "/shapes"))
    for (std::string& line : read_shape_lines(file.path())) lines.push_back(std::move(line));
  return lines;
}

TEST(Slicing, SlicesAreMadeApart) {
  std::set<std::string> types;
  std::size_t checked = 0;
  for (const std::string& text : all_lines()) {
    std::optional<ShapeLine> line;
    try {
      line = parse_shape_line(text);
    } catch (const Error&) {
      continue;  // of types that the operator does not take
    }
    const Call call(*line);
    if (line->task.op.body || !call.is_small()) continue;
    for (const std::vector<int>& way : call.ways()) {
      const auto output_axes = call.sliced(way);
      if (!output_axes) continue;
      SCOPED_TRACE(text + ", sliced along " + testing::PrintToString(way));
      call.expect_slices(way, *output_axes);
      if (testing::Test::HasFatalFailure()) return;
      types.insert(line->task.op.type);
      ++checked;
    }
  }
  RecordProperty("checked", static_cast<int>(checked));
  for (const char* type : {"Conv2D",
                           "Conv2DTranspose",
                           "MatMulV2",
                           "Gemm",
                           "Einsum",
                           "MatMulInteger",
                           "SoftmaxV2",
                           "LayerNorm",
                           "InstanceNorm",
                           "GroupNorm",
                           "BatchNorm",
                           "MaxPoolV3",
                           "AvgPoolV2",
                           "ReduceSum",
                           "ArgMaxV2",
                           "TopKV2",
                           "Cumsum",
                           "ConcatV2",
                           "SplitV",
                           "Slice",
                           "PadV3",
                           "GatherV2",
                           "GatherElements",
                           "GatherNd",
                           "Transpose",
                           "Reshape",
                           "FlattenV2",
                           "Squeeze",
                           "Unsqueeze",
                           "Expand",
                           "Tile",
                           "Resize",
                           "DepthToSpace",
                           "LRN",
                           "LpNorm",
                           "MVN",
                           "Quantize",
                           "Dequantize",
                           "DynamicRNN",
                           "DynamicGRUV2",
                           "CommonRNN",
                           "ROIAlign",
                           "OneHot",
                           "WeightQuantBatchMatmulV2",
                           "Add",
                           "Sigmoid",
                           "Cast"})
    EXPECT_TRUE(types.contains(type)) << type << " was not sliced";
  EXPECT_GT(checked, 700U);
}

/// What an axis mixes, and what counts from the first slice on.
TEST(Slicing, IsRefusedAlongAxesThatAreMixed) {
  const auto ways = [](const std::string& text) {
    const ShapeLine line = parse_shape_line(text);
    const Call call(line);
    std::vector<std::vector<int>> sliced;
    for (const std::vector<int>& way : call.ways())
      if (call.sliced(way)) sliced.push_back(way);
    return sliced;
  };
  using Ways = std::vector<std::vector<int>>;
  EXPECT_EQ(ways("SoftmaxV2@13 in=4x33 axis=1"), Ways({{0}}));
  EXPECT_EQ(ways("Cumsum in=3x20 in=scalar:int64:value=0"), Ways({{1, kWhole}}));
  EXPECT_EQ(ways("MaxPoolV3 in=2x3x8x8 kernel_shape=[2,2] outputs=2"), Ways());
  EXPECT_EQ(ways("MatMulV2 in=5x7 in=7x6:const"), Ways({{kWhole, 1}, {0, kWhole}}));
  EXPECT_EQ(ways("Reshape in=4x6 in=[8,3]"), Ways());
}

}  // namespace
}  // namespace aoe::compiler
