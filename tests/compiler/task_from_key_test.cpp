// A task and its description: there and back.
#include "compiler/task_from_key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace aoe::compiler {
namespace {
using nlohmann::json;

/// 8x4x4 -> 16x4x4, kernel 3x3, with a bias, then Relu.
Task described_convolution() {
  const TensorDesc weights{.dtype = DataType::kFloat, .shape = {16, 8, 3, 3}};
  const TensorDesc bias{.dtype = DataType::kFloat, .shape = {16}};
  const std::vector<float> values(16 * 8 * 9, 0.5f);
  Task task;
  reference::OpCall anchor{.type = "Conv2D"};
  anchor.attrs.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  task.op =
      reference::fused_call({.inputs = 3, .steps = {{anchor, {0, 1, 2}}, {{.type = "Relu"}, {3}}}});
  task.inputs = {{{.dtype = DataType::kFloat, .shape = {1, 8, 4, 4}}, nullptr},
                 {weights, std::make_shared<const Constant>(weights, values.data())},
                 {bias, std::make_shared<const Constant>(bias, values.data())}};
  task.outputs = {{.dtype = DataType::kFloat, .shape = {1, 16, 4, 4}}};
  return task;
}

bank::TaskKey described_key() {
  return key_of(described_convolution(), {.version = "test"});
}

TEST(TaskFromKey, IsTheTaskThatWasDescribed) {
  const auto task = task_from_key(described_key());
  ASSERT_TRUE(task) << task.error();
  EXPECT_EQ(key_of(*task, {.version = "test"}).description, described_key().description);
  EXPECT_FALSE(task->inputs[0].constant);
  ASSERT_TRUE(task->inputs[1].constant);
  EXPECT_EQ(task->inputs[1].constant->desc().shape, (Shape{16, 8, 3, 3}));
  EXPECT_EQ(flops(*task), flops(described_convolution()));
}

/// Whatever an imported bank says.
TEST(TaskFromKey, RefusesWhatIsNoTask) {
  const auto refuses = [](const std::string& description) {
    return !task_from_key({description, "test"});
  };
  EXPECT_TRUE(refuses("{}"));
  EXPECT_TRUE(refuses("[1]"));
  EXPECT_TRUE(refuses("nothing"));
  EXPECT_TRUE(refuses(R"({"subgraph":[]})"));
  EXPECT_TRUE(refuses(std::string(100'000, '[')));
  const std::vector<std::pair<std::string, json>> changes = {
      {"/op/type", "Nothing"},
      {"/inputs/0/shape", {1, 8, 1 << 30, 1 << 30}},
      {"/inputs/0/shape", {1, -8, 4, 4}},
      {"/inputs/0/shape", {1, 9, 4, 4}},
      {"/inputs/0/dtype", "float33"},
      {"/inputs/0/dtype", 7},
      {"/inputs/1", nullptr},
      {"/outputs/0/shape", {1, 16, 5, 4}},
      {"/outputs", json::array()},
      {"/inputs", json::array()},
  };
  for (const auto& [path, value] : changes) {
    json changed = parse_json(described_key().description);
    changed[json::json_pointer(path)] = value;
    EXPECT_TRUE(refuses(json_text(changed))) << path << " " << value;
  }
}

}  // namespace
}  // namespace aoe::compiler
