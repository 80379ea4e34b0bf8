// Where tensors lie: views, concatenations in place, outputs of all kinds, in small whole models.
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

using runtime::Om;
using runtime::Place;
using tests::import_text;

/// Runs the model in all variants; returns the om of one thread with memory reused.
Om check(const graph::Graph& graph, const Soc& soc,
         const std::map<std::string, Candidate>& fixed = {}) {
  SCOPED_TRACE(soc.version + "\n" + graph.to_text());
  for (const int threads : {1, 3}) {
    for (const bool reuse_memory : {false, true}) {
      CompileOptions options = options_for(soc, threads);
      options.reuse_memory = reuse_memory;
      options.fixed = fixed;
      Om om = expect_compiled_like_reference(graph, options);
      if (testing::Test::HasFatalFailure() || (threads == 3 && reuse_memory)) return om;
    }
  }
  return {};
}

Om check(const std::string& text) {
  return check(import_text(text), loopnest::test_socs().back());
}

/// The first candidate in this Format, for every node that has one: concatenations in place come before those that copy.
std::map<std::string, Candidate> all_in(const std::string& format, const graph::Graph& graph,
                                        const Soc& soc) {
  std::map<std::string, Candidate> fixed;
  for (const graph::NodeId id : graph.topological_order())
    for (const Candidate& candidate : default_candidates(task_of(graph, id), soc))
      if (candidate.format.name == format && candidate.impl->name() != "reference")
        fixed.emplace(graph.nodes[id].name, candidate);
  return fixed;
}

/// Whether `inner` lies in the bytes of `outer`, and where.
std::optional<std::uint64_t> offset_in(const Om& om, const std::string& outer,
                                       const std::string& inner) {
  const runtime::OmTensor& a = tensor(om, outer);
  const runtime::OmTensor& b = tensor(om, inner);
  if (a.place != b.place || b.offset < a.offset) return std::nullopt;
  if (b.offset + storage_bytes(b.desc) > a.offset + storage_bytes(a.desc)) return std::nullopt;
  return b.offset - a.offset;
}

// ---- memories ----

/// An Impl of an accelerator, as far as the compiler asks before it builds.
class OnDevice : public Impl {
 public:
  std::string_view name() const override { return "on_device"; }
  Result<void> supports(const Task&, const Soc&) const override { return {}; }
  Memory memory() const override { return Memory::kDevice; }
  std::unique_ptr<Plan> plan(const Task&, const FormatChoice&, const Soc&) const override {
    ADD_FAILURE() << "nothing brings its inputs to the device";
    return nullptr;
  }
};

TEST(Placement, NoImplBringsValuesToADeviceYet) {
  const graph::Graph graph = import_text(R"(g (float[2,6] x) => (float[2,6] y) {
    a = Neg (x)
    y = Relu (a)
  })");
  const OnDevice on_device;
  CompileOptions options = options_for(loopnest::test_socs().back(), 1);
  for (const graph::Node& node : graph.nodes)
    if (node.op.type == "Relu")
      options.fixed[node.name] = {&on_device, {"ND", {Format::kND}, {Format::kND}}, {}};
  try {
    compile(graph, options);
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kModel);
    EXPECT_NE(std::string(e.what()).find("from ND in the host's memory to ND in the device's"),
              std::string::npos)
        << e.what();
  }
}

// ---- views ----

TEST(Placement, ViewsShareTheirInputsBytes) {
  const Om om = check(R"(g (float[2,12] x) => (float[3,8] y) {
    a = Relu (x)
    s1 = Constant <value = int64[3] {2,3,4}> ()
    b = Reshape (a, s1)
    s2 = Constant <value = int64[4] {4,1,3,2}> ()
    c = Reshape (b, s2)
    axes = Constant <value = int64[1] {1}> ()
    d = Squeeze (c, axes)
    s3 = Constant <value = int64[2] {3,8}> ()
    e = Reshape (d, s3)
    y = Neg (e)
  })");
  EXPECT_EQ(steps_text(om), "jit:Relu none:Reshape none:Reshape none:Squeeze none:Reshape jit:Neg");
  EXPECT_EQ(offset_in(om, "a", "e"), 0u);
}

TEST(Placement, ViewOfAModelInputIsACopy) {
  check(R"(g (float[2,6] x) => (float[3,4] y, float[12] z) {
    s = Constant <value = int64[2] {3,4}> ()
    y = Reshape (x, s)
    flat = Constant <value = int64[1] {12}> ()
    r = Reshape (x, flat)
    z = Relu (r)
  })");
}

TEST(Placement, PartsOfAModelInputShareACopyOfIt) {
  const Om om = check(R"(g (float[4,6] x) => (float[1,6] y, float[3,6] z) {
    sizes = Constant <value = int64[2] {1,3}> ()
    a, b = Split <axis = 0> (x, sizes)
    y = Relu (a)
    z = Neg (b)
  })");
  EXPECT_EQ(steps_text(om), "jit:TransData none:SplitV jit:Relu jit:Neg");
  EXPECT_EQ(offset_in(om, "x:copy", "a"), 0u);
  EXPECT_EQ(offset_in(om, "x:copy", "b"), 6 * sizeof(float));
}

TEST(Placement, ViewIsAModelOutput) {
  check(R"(g (float[2,6] x) => (float[2,6] a, float[3,4] y, float[12] z) {
    a = Relu (x)
    s = Constant <value = int64[2] {3,4}> ()
    y = Reshape (a, s)
    flat = Constant <value = int64[1] {12}> ()
    z = Reshape (y, flat)
  })");
}

TEST(Placement, ViewOfSmallIntegersAndOfNothing) {
  check(R"(g (bool[3,1] x, float[0,4] e) => (bool[3] y, float[4,0] z, bool[1,3] w) {
    s = Constant <value = int64[1] {3}> ()
    y = Reshape (x, s)
    n = Not (x)
    t = Constant <value = int64[2] {1,3}> ()
    w = Reshape (n, t)
    empty = Constant <value = int64[2] {4,0}> ()
    z = Reshape <allowzero = 1> (e, empty)
  })");
}

TEST(Placement, AViewedTensorIsNotOverwritten) {
  check(R"(g (float[2,6] x) => (float[2,6] y, float[12] z) {
    a = Relu (x)
    s = Constant <value = int64[1] {12}> ()
    v = Reshape (a, s)
    b = Add (a, x)
    y = Exp (b)
    z = Neg (v)
  })");
}

// ---- concatenation ----

TEST(Placement, PartsAreWrittenIntoTheConcatenation) {
  const Om om = check(R"(g (float[1,3,4,4] x) => (float[1,9,4,4] y) {
    a = Relu (x)
    b = Neg (x)
    d = Abs (x)
    c = Concat <axis = 1> (a, b, d)
    y = Exp (c)
  })");
  EXPECT_EQ(steps_text(om), "jit:Relu jit:Neg jit:Abs none:ConcatV2 jit:Exp");
  EXPECT_EQ(offset_in(om, "c", "b"), 3 * 16 * sizeof(float));
  EXPECT_EQ(offset_in(om, "c", "d"), 6 * 16 * sizeof(float));
}

TEST(Placement, ChannelBlocksAreWrittenIntoTheConcatenation) {
  for (const Soc& soc : loopnest::test_socs()) {
    const graph::Graph graph = import_text(R"(g (float[1,16,5,5] x) => (float[1,16,5,5] y)
        <float[32,16,1,1] w1, float[16,16,3,3] w2, float[16,48,1,1] w3> {
      a = Conv (x, w1)
      b = Conv <pads = [1,1,1,1]> (x, w2)
      c = Concat <axis = 1> (a, b)
      y = Conv (c, w3)
    })");
    const Om om = check(graph, soc, all_in("NC1HWC0", graph, soc));
    EXPECT_EQ(offset_in(om, "c:NC1HWC0", "a:NC1HWC0"), 0u);
    EXPECT_EQ(offset_in(om, "c:NC1HWC0", "b:NC1HWC0"), 32 * 25 * sizeof(float));
  }
}

TEST(Placement, PartialChannelBlocksAreConcatenatedByCopying) {
  for (const Soc& soc : loopnest::test_socs()) {
    const graph::Graph graph = import_text(R"(g (float[1,3,5,5] x) => (float[1,16,5,5] y)
        <float[10,3,1,1] w1, float[6,3,3,3] w2, float[16,16,1,1] w3> {
      a = Conv (x, w1)
      b = Conv <pads = [1,1,1,1]> (x, w2)
      c = Concat <axis = 1> (a, b)
      y = Conv (c, w3)
    })");
    check(graph, soc, all_in("NC1HWC0", graph, soc));
  }
}

TEST(Placement, PartsThatCannotMoveAreCopied) {
  const Om om = check(R"(g (float[1,2,3,4] x) => (float[1,10,3,4] y) {
    a = Relu (x)
    y = Concat <axis = 1> (a, a, x, a, x)
  })");
  EXPECT_TRUE(steps_text(om).ends_with("none:ConcatV2")) << steps_text(om);
}

TEST(Placement, APartIsAModelOutput) {
  check(R"(g (float[1,2,3,4] x) => (float[1,2,3,4] a, float[1,4,3,4] y, float[1,2,3,4] b) {
    a = Relu (x)
    b = Neg (x)
    c = Concat <axis = 1> (b, a)
    y = Exp (c)
  })");
}

TEST(Placement, APartIsReadAfterwards) {
  check(R"(g (float[1,2,3,4] x) => (float[1,4,3,4] y, float[1,2,3,4] z) {
    a = Relu (x)
    b = Neg (x)
    c = Concat <axis = 1> (b, a)
    y = Exp (c)
    d = Add (a, b)
    e = Mul (d, a)
    z = Tanh (e)
  })");
}

TEST(Placement, ATensorLiesInTwoConcatenations) {
  check(R"(g (float[1,2,3,4] x) => (float[1,4,3,4] y, float[1,6,3,4] z) {
    a = Relu (x)
    b = Neg (x)
    y = Concat <axis = 1> (b, a)
    c = Exp (x)
    z = Concat <axis = 1> (a, c, b)
  })");
}

TEST(Placement, NestedConcatenations) {
  const Om om = check(R"(g (float[1,2,3,4] x) => (float[1,10,3,4] y) {
    a = Relu (x)
    b = Neg (x)
    ab = Concat <axis = 1> (a, b)
    c = Exp (ab)
    abc = Concat <axis = 1> (ab, c)
    d = Abs (x)
    all = Concat <axis = 1> (d, abc)
    y = Tanh (all)
  })");
  EXPECT_EQ(offset_in(om, "all", "b"), 4 * 12 * sizeof(float));
}

TEST(Placement, ConcatenationFeedsAViewAndAViewAConcatenation) {
  check(R"(g (float[4,3] x) => (float[2,12] y, float[24] z) {
    a = Relu (x)
    s = Constant <value = int64[2] {2,6}> ()
    v = Reshape (a, s)
    b = Exp (v)
    c = Concat <axis = 0> (v, b)
    t = Constant <value = int64[2] {2,12}> ()
    w = Reshape (c, t)
    y = Neg (w)
    flat = Constant <value = int64[1] {24}> ()
    z = Reshape (w, flat)
  })");
}

TEST(Placement, ConcatenationOfOnePartAndOfEmptyOnes) {
  check(R"(g (float[2,3] x, float[0,3] e) => (float[2,3] y, float[2,3] z, float[4,3] w) {
    a = Relu (x)
    y = Concat <axis = 0> (a)
    z = Concat <axis = 0> (x, e)
    b = Neg (e)
    c = Abs (x)
    w = Concat <axis = 0> (b, c, e, x)
  })");
}

// ---- residuals ----

/// Everything in NHWC, convolutions by oneDNN, which adds to what is there already where it may.
std::map<std::string, Candidate> adding_in_place(const graph::Graph& graph, const Soc& soc) {
  std::map<std::string, Candidate> fixed = all_in("NHWC", graph, soc);
  for (const graph::NodeId id : graph.topological_order()) {
    const Task task = task_of(graph, id);
    for (Candidate& candidate : default_candidates(task, soc)) {
      if (candidate.impl->name() != "onednn" || candidate.format.name != "NHWC") continue;
      const auto plan = candidate.impl->plan(task, candidate.format, soc);
      for (const ScheduleAxis& axis : plan->axes())
        candidate.schedule[axis.name] = axis.values.back();
      fixed.insert_or_assign(graph.nodes[id].name, std::move(candidate));
    }
  }
  return fixed;
}

/// r = Relu(convolution + b), and what else reads b before and after it, in images of `side` pixels.
Om check_residual(int side, const std::string& outputs, const std::string& before,
                  const std::string& after) {
  const std::string image = "[1,16," + std::to_string(side) + "," + std::to_string(side) + "]";
  graph::Graph graph = import_text("g (float" + image + " x) => (" + outputs + R"()
      <float[16,16,1,1] w1, float[16,16,1,1] w2, float[16,16,1,1] w3> {
    a = Conv (x, w1)
    b = Conv (x, w2)
    )" + before + R"(
    c = Conv (a, w3)
    s = Add (c, b)
    r = Relu (s)
    )" + after + "}");
  graph::run_passes(graph, {});
  const Soc& soc = loopnest::test_socs().back();
  return check(graph, soc, adding_in_place(graph, soc));
}

TEST(Placement, AResidualIsOverwritten) {
  const Om om = check_residual(6, "float[1,16,6,6] y", "", "y = Softmax <axis = 1> (r)");
  EXPECT_EQ(offset_in(om, "b:NHWC", "r:NHWC"), 0u) << steps_text(om);
}

TEST(Placement, ATransposeAroundAPoolingOfNhwcMovesNothing) {
  const Om om = check(R"(g (float[1,9,9,16] x) => (float[1,4,4,16] y) {
    a = Relu (x)
    b = Transpose <perm = [0,3,1,2]> (a)
    c = MaxPool <kernel_shape = [2,2], strides = [2,2]> (b)
    d = Transpose <perm = [0,2,3,1]> (c)
    y = Neg (d)
  })");
  EXPECT_EQ(steps_text(om), "jit:Relu none:Transpose jit:MaxPoolV3 none:Transpose jit:Neg");
}

TEST(Placement, ATransposedModelInputOfAnOddNumberOfBytesIsACopy) {
  const Om om = check(R"(g (uint8[1,3,3,17] x) => (uint8[1,1,1,17] y) {
    a = Transpose <perm = [0,3,1,2]> (x)
    b = MaxPool <kernel_shape = [3,3]> (a)
    y = Transpose <perm = [0,2,3,1]> (b)
  })");
  EXPECT_EQ(steps_text(om), "jit:TransData none:Transpose jit:MaxPoolV3 none:Transpose");
}

TEST(Placement, AResidualThatIsReadLaterIsKept) {
  check_residual(6, "float[1,16,6,6] y, float[1,16,6,6] z", "",
                 "y = Softmax <axis = 1> (r) z = Softmax <axis = 1> (b)");
}

TEST(Placement, AResidualThatIsAnOutputIsKept) {
  check_residual(6, "float[1,16,6,6] r, float[1,16,6,6] b", "", "");
  check_residual(1, "float[1,16,1,1] r, float[1,16,1,1] b", "", "");
}

TEST(Placement, AResidualWithAViewIsKept) {
  // One pixel: NHWC and ND are the same bytes, so that the view shares them.
  const std::string shape = "shape = Constant <value = int64[2] {4,4}> () v = Reshape (b, shape)";
  const Om om = check_residual(1, "float[1,16,1,1] y, float[4,4] z", shape,
                               "y = Softmax <axis = 1> (r) z = Softmax <axis = 1> (v)");
  EXPECT_EQ(offset_in(om, "b:NHWC", "v"), 0u);
}

TEST(Placement, AResidualInAConcatenationIsKept) {
  const Om om =
      check_residual(6, "float[1,16,6,6] y, float[2,16,6,6] z", "t = Concat <axis = 0> (a, b)",
                     "y = Softmax <axis = 1> (r) z = Softmax <axis = 1> (t)");
  EXPECT_EQ(offset_in(om, "t:NHWC", "b:NHWC"), 16 * 36 * sizeof(float)) << steps_text(om);
}

TEST(Placement, AResidualThatIsConvolvedItselfIsKept) {
  graph::Graph graph = import_text(R"(g (float[1,16,6,6] x) => (float[1,16,6,6] y)
      <float[16,16,1,1] w1, float[16,16,1,1] w2> {
    a = Conv (x, w1)
    b = Conv (a, w2)
    s = Add (b, a)
    r = Relu (s)
    y = Softmax <axis = 1> (r)
  })");
  graph::run_passes(graph, {});
  const Soc& soc = loopnest::test_socs().back();
  const Om om = check(graph, soc, adding_in_place(graph, soc));
  EXPECT_NE(offset_in(om, "a:NHWC", "r:NHWC"), 0u)
      << "a convolution cannot overwrite what it reads";
}

// ---- outputs ----

TEST(Placement, ConstantsAndInputsAreOutputs) {
  check(R"(g (float[2,3] x) => (int64[2] k, float[2,3] x, float[2,3] y, float[2,3] w)
      <float[2,3] w> {
    k = Constant <value = int64[2] {7,-8}> ()
    y = Add (x, w)
  })");
}

TEST(Placement, ViewOfAConstant) {
  check(R"(g (float[6] x) => (float[6] y, float[6] v) <float[2,3] w> {
    s = Constant <value = int64[1] {6}> ()
    v = Reshape (w, s)
    y = Add (x, v)
  })");
}

TEST(Placement, OneValueIsTwoOutputs) {
  graph::Graph graph = import_text(R"(g (float[2,3] x) => (float[2,3] y, float[6] v) {
    y = Relu (x)
    s = Constant <value = int64[1] {6}> ()
    v = Reshape (x, s)
  })");
  graph.outputs = {graph.outputs[0], graph.outputs[1], graph.outputs[0],
                   graph.inputs[0],  graph.outputs[1], graph.inputs[0]};
  check(graph, loopnest::test_socs().back());
}

TEST(Placement, AnOutputIsReadByLaterNodes) {
  const Om om = check(R"(g (float[2,3] x) => (float[2,3] a, float[2,3] y) {
    a = Relu (x)
    b = Add (a, x)
    y = Mul (a, b)
  })");
  EXPECT_EQ(tensor(om, "a").place, Place::kOutput);
  EXPECT_EQ(tensor(om, "y").place, Place::kOutput);
}

TEST(Placement, NodesWithSeveralOutputs) {
  check(R"(g (float[2,9] x) => (float[2,3] y, float[2,4] c, float[2,4] k, int64[2,4] i) {
    sizes = Constant <value = int64[3] {3,2,4}> ()
    a, unused, c = Split <axis = 1> (x, sizes)
    y = Neg (a)
    n = Constant <value = int64[1] {4}> ()
    k, i = TopK (x, n)
  })");
}

TEST(Placement, PartsBehindOneThatNobodyReads) {
  graph::Graph graph = import_text(R"(g (float[6,2] x, float[1,16,2,2] image)
      => (float[3,2] y, float[2,2] e, float[1,8,2,2] z, float[3,2] w, float[2,2] l) {
    sizes = Constant <value = int64[2] {3,3}> ()
    unused, b = Split <axis = 0> (x, sizes)
    y = Neg (b)
    few = Constant <value = int64[3] {1,3,2}> ()
    first, second, third = Split <axis = 0> (x, few)
    e = Neg (third)
    w = Exp (second)
    no, channels = Split <axis = 1, num_outputs = 2> (image)
    z = Relu (channels)
    p, q, l = Split <axis = 0, num_outputs = 3> (x)
  })");
  graph::run_passes(graph, {});  // says what nobody reads
  check(graph, loopnest::test_socs().back());
}

// ---- shapes that only a run can tell ----

TEST(Placement, ShapesThatOnlyARunCanTell) {
  check(R"(g (float[2,5] x) => (int64[2,n] y, int64[n,2] t, float[2,5] z) {
    r = Relu (x)
    y = NonZero (r)
    t = Transpose <perm = [1,0]> (y)
    z = Exp (r)
  })");
}

TEST(Placement, StaticWorkBehindAShapeOfTheRun) {
  check(R"(g (float[2,6] x) => (float[3,4] y, int64[1] count) {
    r = Relu (x)
    where = NonZero (r)
    shape = Shape (where)
    one = Constant <value = int64[1] {1}> ()
    count = Gather <axis = 0> (shape, one)
    target = Constant <value = int64[2] {3,4}> ()
    v = Reshape (r, target)
    y = Exp (v)
  })");
}

}  // namespace
}  // namespace aoe::compiler
