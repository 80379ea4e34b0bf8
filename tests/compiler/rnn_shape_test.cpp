// Which recurrent tasks the Impls take, and what the others are told.
#include <gtest/gtest.h>

#include <numeric>

#include "compiler/impl.h"
#include "compiler/onednn/rnn_weights.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

const char* const kImpls[] = {"onednn_rnn", "rnn"};

Result<void> takes(const char* impl, const Task& task) {
  return impls().find(impl)->supports(task, detect_soc());
}

/// check_impl() passes over what an Impl refuses.
TEST(RecurrentImpls, TakeEveryShapeLine) {
  for (const std::string& text :
       read_shape_lines(std::string(AOE_TEST_DIR) + "/shapes/recurrent.txt")) {
    for (const char* impl : kImpls) {
      const Result<void> taken = takes(impl, parse_shape_line(text).task);
      EXPECT_TRUE(taken.has_value()) << impl << ": " << text << ": " << taken.error();
    }
  }
}

TEST(RecurrentImpls, SayWhyNot) {
  struct Case {
    const char* line;
    const char* reason;
  };
  const Case cases[] = {
      {"DynamicRNN in=3x2x4 in=1x24x4:const in=1x24x6:const clip=0.5", "clips"},
      {"DynamicRNN in=3x2x4 in=1x24x4:const in=1x24x6:const input_forget=1", "coupled"},
      {"DynamicRNN in=3x2x4 in=1x24x4 in=1x24x6:const", "W is not constant"},
      {"DynamicRNN in=3x2x4 in=1x24x4:const in=1x24x6", "R is not constant"},
      {"DynamicGRUV2 in=3x2x4 in=1x18x4:const in=1x18x6:const in=1x36", "B is not constant"},
      {"DynamicRNN in=3x2x4 in=1x24x4:const in=1x24x6:const in=- in=2:int32:value=2",
       "a sequence of 2 of 3 steps"},
      {"Relu in=3", "not recurrent"},
  };
  for (const Case& each : cases) {
    for (const char* impl : kImpls) {
      const Result<void> taken = takes(impl, parse_shape_line(each.line).task);
      ASSERT_FALSE(taken.has_value()) << each.line;
      EXPECT_NE(taken.error().find(each.reason), std::string::npos)
          << each.line << ": " << taken.error();
    }
  }
}

TEST(RecurrentImpls, RefuseOtherActivations) {
  Task task = parse_shape_line("DynamicRNN in=3x2x4 in=1x24x4:const in=1x24x6:const").task;
  task.op.attrs.set("activations", std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"});
  for (const char* impl : kImpls) EXPECT_TRUE(takes(impl, task).has_value());
  task.op.attrs.set("activations", std::vector<std::string>{"Sigmoid", "Relu", "Tanh"});
  for (const char* impl : kImpls) {
    const Result<void> taken = takes(impl, task);
    ASSERT_FALSE(taken.has_value());
    EXPECT_NE(taken.error().find("activation relu"), std::string::npos) << taken.error();
  }
}

TEST(Rnn, RefusesAConstantSequence) {
  const Result<void> taken = takes(
      "rnn", parse_shape_line("DynamicRNN in=3x2x4:const in=1x24x4:const in=1x24x6:const").task);
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().find("X is constant"), std::string::npos) << taken.error();
}

TEST(OneDnnRnn, RefusesLengthsOfTheRun) {
  const Result<void> taken =
      takes("onednn_rnn",
            parse_shape_line(
                "DynamicRNN in=3x2x4 in=1x24x4:const in=1x24x6:const in=- in=2:int32:below=3")
                .task);
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().find("sequence_lens is not constant"), std::string::npos)
      << taken.error();
}

/// ONNX orders the gates input, output, forget, candidate; oneDNN input, forget, candidate, output.
TEST(OneDnnRnn, PutsTheGatesOfAnLstmInOrder) {
  const ShapeLine line =
      parse_shape_line("DynamicRNN in=1x1x1 in=1x4x1:const in=1x4x1:const in=1x8:const");
  for (const std::size_t i : {1, 3}) {
    auto* values = line.inputs[i]->view().as<float>();
    std::iota(values, values + element_count(line.inputs[i]->desc().shape), 0.0f);
  }
  const RnnShape shape = rnn_shape(line.task).value();
  std::vector<float> weights(4), bias(4);
  pack_rnn_weights(line.task, shape, kRnnWeights, 0, 1, weights.data());
  pack_rnn_bias(line.task, shape, 0, bias.data());
  EXPECT_EQ(weights, (std::vector<float>{0, 2, 3, 1}));
  EXPECT_EQ(bias, (std::vector<float>{0 + 4, 2 + 6, 3 + 7, 1 + 5}));
}

}  // namespace
}  // namespace aoe::compiler
