// Iterations: phases found by data flow, points given by name, and the quantities between them.
#include "profiler/database/phases.h"
#include "tests/profiler/exported_tables.h"
#include "tests/temp_dir.h"

namespace aoe::profiler::tests {
namespace {
using aoe::tests::TempDir;
using nlohmann::json;

json op_giving(const std::string& name, const std::vector<std::string>& inputs,
               const std::string& output) {
  json description = synthetic_op(name, "MatMulV2", {{4, 4}}, {{4, 4}});
  description["inputs"] = json::array();
  for (const std::string& input : inputs) description["inputs"].push_back({{"name", input}});
  description["outputs"] = {{{"name", output}}};
  return description;
}

/// y = xw, loss(y), dy, dw, w - dw; the transposed x is forward, though only backward reads it.
json training_ops() {
  return {op_giving("forward", {"x", "w"}, "y"),
          op_giving("transpose", {"x"}, "xt"),
          op_giving("loss", {"y"}, "loss"),
          op_giving("dy", {"y"}, "y_grad_output_0"),
          op_giving("scale", {"y_grad_output_0"}, "scaled"),
          op_giving("dw", {"xt", "scaled"}, "w_grad"),
          op_giving("change", {"w_grad"}, "change"),
          op_giving("update", {"w", "change"}, "w_new")};
}

TEST(Phases, FollowTheGradients) {
  EXPECT_EQ(phases_of(training_ops()),
            (std::vector<std::string>{"forward", "forward", "forward", "backward", "backward",
                                      "backward", "update", "update"}));
}

TEST(Phases, AreEmptyInInference) {
  EXPECT_EQ(phases_of({op_giving("a", {"x"}, "y"), op_giving("b", {"y"}, "z")}),
            (std::vector<std::string>{"", ""}));
}

TEST(Phases, StatedOnesAreKept) {
  json ops = training_ops();
  ops[0]["phase"] = "update";
  EXPECT_EQ(phases_of(ops)[0], "update");
}

TEST(Phases, GradientsAreKnownByTheirNames) {
  for (const char* name : {"w_grad", "w.grad", "grad_w", "gradients/w", "/fc/w_grad_output_0"})
    EXPECT_TRUE(is_gradient_name(name)) << name;
  for (const char* name : {"w", "gradient_free", "degrade", "upgrade_output_0"})
    EXPECT_FALSE(is_gradient_name(name)) << name;
}

/// Two iterations: at 1000 and 21000 ns, ops of 1000 ns each, 100 apart, 500 behind the start.
void run_twice(SyntheticProfile& raw, const json& ops) {
  raw.model(synthetic_model(ops));
  for (std::uint32_t run = 1; run <= 2; ++run) {
    const std::int64_t begin_ns = run == 1 ? 1000 : 21'000;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const std::int64_t at_ns = begin_ns + 500 + 1100 * i;
      raw.task(i, run_and_model(run, 1), at_ns, at_ns + 1000);
    }
    raw.step(run_and_model(run, 1), begin_ns, begin_ns + 10'000);
  }
}

using Row = std::vector<std::string>;

TEST(StepTrace, HasTheQuantitiesOfTheReference) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  run_twice(raw, training_ops());
  const ExportedTables tables = export_tables(raw);
  // FP starts with op 0, BP ends with op 5: 500 + 5 * 1100 + 1000 behind the start of the run.
  EXPECT_EQ(tables.rows("step_trace")[1],
            (Row{"0", "1", "1.500", "8.000", "11.000", "9.500", "6.500", "3.000", "N/A", "1"}));
  EXPECT_EQ(tables.rows("step_trace")[2], (Row{"0", "2", "21.500", "28.000", "31.000", "20.000",
                                               "6.500", "3.000", "10.500", "1"}));
}

TEST(StepTrace, TakesPointsThatAreGiven) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf, {},
                       {{"fp_point", "transpose"}, {"bp_point", "dy"}});
  run_twice(raw, training_ops());
  const ExportedTables tables = export_tables(raw);
  EXPECT_EQ(tables.cell("step_trace", 1, "FP Start(us)"), "2.600");
  EXPECT_EQ(tables.cell("step_trace", 1, "BP End(us)"), "5.800");
}

TEST(StepTrace, OfInferenceHasNoPoints) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  run_twice(raw, {op_giving("a", {"x"}, "y"), op_giving("b", {"y"}, "z")});
  const ExportedTables tables = export_tables(raw);
  // Without FP the first iteration counts from the start of the run.
  EXPECT_EQ(tables.rows("step_trace")[1],
            (Row{"0", "1", "N/A", "N/A", "11.000", "10.000", "N/A", "N/A", "N/A", "1"}));
  EXPECT_EQ(tables.cell("step_trace", 2, "Iteration Time(us)"), "20.000");
}

}  // namespace
}  // namespace aoe::profiler::tests
