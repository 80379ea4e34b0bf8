// The om file: what was written is read back, and nothing else is accepted.
#include "runtime/om/om.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "runtime/backend.h"
#include "runtime/om/geared_om.h"
#include "runtime/om/om_container.h"
#include "runtime/om/om_graph.h"
#include "tests/runtime/om_builder.h"
#include "tests/runtime/om_sections.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using tests::floats;
using tests::OmBuilder;
using tests::small_om;

/// A copy of the exact size, so that a sanitizer sees a read beyond the end.
Om parse_copy(std::string_view bytes) {
  const auto copy = std::make_shared<const std::vector<char>>(bytes.begin(), bytes.end());
  return Om::parse({copy->data(), copy->size()}, copy, "test.om");
}

void expect_refused(std::string_view bytes, const std::string& what) {
  try {
    parse_copy(bytes);
    ADD_FAILURE() << what << " was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm) << what;
    EXPECT_EQ(e.where(), "test.om") << what;
  }
}

TEST(Om, ReadsBackWhatWasWritten) {
  OmBuilder b("everything");
  const int x = b.input("in:0", {.dtype = DataType::kFloat, .shape = {1, 20, 4, 4}});
  const int blocked = b.arena(
      "blocked",
      {.dtype = DataType::kFloat, .shape = {1, 20, 4, 4}, .format = Format::kNC1HWC0, .c0 = 16});
  const int packed = b.weight<char>("packed", {.dtype = DataType::kUint8, .shape = {3}}, {7, 8, 9});
  const int found =
      b.dynamic_output("found", {.dtype = DataType::kInt64, .shape = {4, kUnknownDim}});
  reference::Attrs attrs;
  attrs.set("alpha", 0.1f);
  attrs.set("pads", std::vector<std::int64_t>{1, 2});
  OmStep& jit = b.jit({{"f0", 7}, {"f1", 1, 5}}, {x, -1}, {blocked});
  jit.constants = {packed};
  jit.workspace = b.arena("work", floats({100}));
  jit.scratch_bytes = 4096;
  jit.flops = 1.5e9;
  jit.bytes = 2e6;
  jit.params = {{"algorithm", "direct"}};
  b.reference("NonZero", {blocked}, {found}, attrs, 13);
  b.om.threads = 3;
  b.om.c0 = 8;
  b.om.peak_gflops = 512;
  b.om.memory_gb_s = 25.6;
  b.om.texts = {{"a", "", "ä"}, {"x"}, {}};
  b.om.code = std::string(5000, 'c');
  b.om.tuning = {{"hits", 1}};

  const Om om = parse_copy(b.om.serialize());
  EXPECT_EQ(om.name, "everything");
  EXPECT_EQ(om.soc_version, b.om.soc_version);
  EXPECT_EQ(om.isa, "avx2");
  EXPECT_EQ(om.threads, 3);
  EXPECT_EQ(om.c0, 8);
  EXPECT_EQ(om.peak_gflops, 512);
  EXPECT_EQ(om.memory_gb_s, 25.6);
  EXPECT_EQ(om.texts, b.om.texts);
  EXPECT_EQ(om.inputs, b.om.inputs);
  EXPECT_EQ(om.outputs, b.om.outputs);
  EXPECT_EQ(om.arena_bytes, b.om.arena_bytes);
  EXPECT_EQ(om.weights_view, b.om.weights_bytes());
  EXPECT_EQ(om.code_view, b.om.code);
  EXPECT_EQ(om.tuning, b.om.tuning);
  ASSERT_EQ(om.tensors.size(), b.om.tensors.size());
  for (std::size_t i = 0; i < om.tensors.size(); ++i) {
    EXPECT_EQ(om.tensors[i].name, b.om.tensors[i].name);
    EXPECT_EQ(om.tensors[i].desc, b.om.tensors[i].desc);
    EXPECT_EQ(om.tensors[i].place, b.om.tensors[i].place);
    EXPECT_EQ(om.tensors[i].offset, b.om.tensors[i].offset);
  }
  ASSERT_EQ(om.steps.size(), 2u);
  EXPECT_EQ(om.steps[1].call, b.om.steps[1].call);
  EXPECT_EQ(om.steps[0].inputs, (std::vector<int>{x, -1}));
  const OmStep& step = om.steps[0];
  EXPECT_EQ(step.name, b.om.steps[0].name);
  EXPECT_EQ(step.backend, &backend("jit"));
  EXPECT_EQ(step.op_types, b.om.steps[0].op_types);
  EXPECT_EQ(step.origins, b.om.steps[0].origins);
  ASSERT_EQ(step.stages.size(), 2u);
  EXPECT_EQ(step.stages[0].symbol, "f0");
  EXPECT_EQ(step.stages[0].extent, 7);
  EXPECT_EQ(step.stages[0].rounds, 1);
  EXPECT_EQ(step.stages[1].rounds, 5);
  EXPECT_EQ(step.params, b.om.steps[0].params);
  EXPECT_EQ(step.constants, std::vector<int>{packed});
  EXPECT_EQ(step.workspace, b.om.steps[0].workspace);
  EXPECT_EQ(step.scratch_bytes, 4096u);
  EXPECT_EQ(step.flops, 1.5e9);
  EXPECT_EQ(step.bytes, 2e6);
}

TEST(Om, AnOlderOneStatesNoPeaks) {
  const std::string bytes = small_om().serialize();
  EXPECT_EQ(bytes.find("peak_gflops"), std::string::npos);
  const Om om = parse_copy(bytes);
  EXPECT_FALSE(om.peak_gflops);
  EXPECT_FALSE(om.memory_gb_s);
}

TEST(Om, ALoadedOmSerializesToTheSameBytes) {
  const std::string bytes = small_om().serialize();
  EXPECT_EQ(parse_copy(bytes).serialize(), bytes);
}

TEST(Om, WeightsAreAlignedInTheFile) {
  const std::string bytes = small_om().serialize();
  const Om om = Om::parse(bytes, std::make_shared<int>(0), "m");
  EXPECT_EQ((om.weights_view.data() - bytes.data()) % 4096, 0);
}

TEST(Om, RefusesTruncationAtEveryByte) {
  const std::string bytes = small_om().serialize();
  ASSERT_LT(bytes.size(), 20'000u);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    expect_refused(std::string_view(bytes).substr(0, size),
                   "truncation at " + std::to_string(size));
}

TEST(Om, RefusesAFlippedBitAtEveryByte) {
  const std::string bytes = small_om().serialize();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i * 5 % 8)));
    expect_refused(damaged, "bit " + std::to_string(i * 5 % 8) + " of byte " + std::to_string(i));
  }
}

TEST(Om, RefusesTrailingBytes) {
  expect_refused(small_om().serialize() + "x", "a trailing byte");
}

/// Older compilers listed steps that ran side by side; one after another they give the same.
TEST(Om, ReadsTheStepsOfAnOlderCompilersGroups) {
  const std::string whole = small_om().serialize();
  std::vector<OmSection> sections = read_container(whole, "test.om");
  std::string graph;
  for (OmSection& section : sections) {
    if (section.kind != SectionKind::kGraph) continue;
    nlohmann::json document = parse_cbor(section.bytes);
    document["groups"] = {{{"steps", {0, 1}}, {"costs", {1.0, 2.0}}, {"share", "cut_list"}}};
    graph = cbor_bytes(document);
    section.bytes = graph;
  }
  ASSERT_FALSE(graph.empty());
  const Om om = parse_copy(aoe::tests::om_of(sections));
  ASSERT_EQ(om.steps.size(), 2u);
  EXPECT_EQ(om.steps[1].op_types.front(), "Relu");
}

/// A reader that called itself for each level would run out of stack.
TEST(Om, RefusesSectionsThatNestDeeply) {
  const std::string whole = small_om().serialize();
  for (const SectionKind kind : {SectionKind::kGraph, SectionKind::kTuning}) {
    const std::string nested(5'000'000, '\x81');  // [[[[...
    std::vector<OmSection> sections = read_container(whole, "test.om");
    for (OmSection& section : sections)
      if (section.kind == kind) section.bytes = nested;
    try {
      parse_copy(aoe::tests::om_of(sections));
      ADD_FAILURE() << "section " << static_cast<int>(kind) << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kOm);
      EXPECT_NE(std::string(e.what()).find("section nests too deeply"), std::string::npos)
          << e.what();
    }
  }
}

/// The checksums of these files are right; what they say is not.
TEST(Om, RefusesAnInconsistentGraph) {
  struct Case {
    const char* name;
    std::function<void(Om&)> spoil;
  };
  constexpr int kX = 0, kW = 1, kSum = 2, kY = 3;  // tensor ids of small_om()
  const Case cases[] = {
      {"unknown isa", [](Om& om) { om.isa = "sve"; }},
      {"no threads", [](Om& om) { om.threads = 0; }},
      {"no peak of arithmetic", [](Om& om) { om.peak_gflops = 0; }},
      {"endless peak of memory", [](Om& om) { om.memory_gb_s = INFINITY; }},
      {"input id out of range", [](Om& om) { om.inputs[0] = 99; }},
      {"output id out of range", [](Om& om) { om.outputs[0] = -1; }},
      {"step reads tensor out of range", [](Om& om) { om.steps[0].inputs[0] = 4; }},
      {"step reads a negative tensor", [](Om& om) { om.steps[0].inputs[0] = -2; }},
      {"step writes tensor out of range", [](Om& om) { om.steps[0].outputs[0] = 4; }},
      {"constant out of range", [](Om& om) { om.steps[0].constants = {-1}; }},
      {"workspace out of range", [](Om& om) { om.steps[0].workspace = 4; }},
      {"weight beyond its section", [](Om& om) { om.tensors[kW].offset = 64; }},
      {"weight offset that wraps", [](Om& om) { om.tensors[kW].offset = ~std::uint64_t{0} - 7; }},
      {"tensor beyond the arena", [](Om& om) { om.arena_bytes = 8; }},
      {"tensor of 2^66 bytes",
       [](Om& om) {
         om.tensors[kSum].desc.shape = {1L << 32, 1L << 32};
       }},
      {"negative dimension",
       [](Om& om) {
         om.tensors[kSum].desc.shape = {-2, 3};
       }},
      {"unknown size in the arena",
       [](Om& om) {
         om.tensors[kSum].desc.shape = {kUnknownDim, 3};
       }},
      {"unknown size in the caller's buffer",
       [](Om& om) { om.tensors[kY].desc.shape = {kUnknownDim}; }},
      {"no element type", [](Om& om) { om.tensors[kX].desc.dtype = DataType::kUndefined; }},
      {"element type 99", [](Om& om) { om.tensors[kX].desc.dtype = static_cast<DataType>(99); }},
      {"format 99", [](Om& om) { om.tensors[kX].desc.format = static_cast<Format>(99); }},
      {"input not dense", [](Om& om) { om.tensors[kX].desc.format = Format::kNHWC; }},
      {"NC1HWC0 without c0", [](Om& om) { om.tensors[kSum].desc.format = Format::kNC1HWC0; }},
      {"input index of another", [](Om& om) { om.tensors[kX].offset = 1; }},
      {"model input in the arena", [](Om& om) { om.tensors[kX].place = Place::kArena; }},
      {"output that is not listed", [](Om& om) { om.outputs.clear(); }},
      {"a body of fewer inputs",
       [](Om& om) {
         om.steps[0].call =
             reference::fused_call({.inputs = 1, .steps = {{{.type = "Relu"}, {0}}}});
       }},
      {"jit step without stages", [](Om& om) { om.steps[0].backend = &backend("jit"); }},
      {"negative extent",
       [](Om& om) {
         om.steps[0].backend = &backend("jit");
         om.steps[0].stages = {{"f", -1}};
       }},
      {"no rounds",
       [](Om& om) {
         om.steps[0].backend = &backend("jit");
         om.steps[0].stages = {{"f", 1, 0}};
       }},
      {"more iterations than can be counted",
       [](Om& om) {
         om.steps[0].backend = &backend("jit");
         om.steps[0].stages = {{"f", std::int64_t{1} << 40, std::int64_t{1} << 40}};
       }},
      {"generated code on a dynamic tensor",
       [](Om& om) {
         om.tensors[kSum].place = Place::kDynamic;
         om.steps[0].backend = &backend("jit");
         om.steps[0].stages = {{"f", 1}};
       }},
  };
  EXPECT_NO_THROW(parse_copy(small_om().serialize()));
  for (const Case& each : cases) {
    Om om = small_om();
    each.spoil(om);
    expect_refused(om.serialize(), each.name);
  }
}

void expect_not_loaded(const std::filesystem::path& path, const std::string& cause) {
  try {
    Om::load(path);
    ADD_FAILURE() << path << " was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm);
    EXPECT_EQ(e.where(), path.string());
    EXPECT_NE(std::string(e.what()).find(cause), std::string::npos) << e.what();
  }
}

TEST(Om, LoadNeedsNoFileAfterwards) {
  const aoe::tests::TempDir dir;
  write_file_atomically(dir / "m.om", small_om().serialize());
  const Om om = Om::load(dir / "m.om");
  EXPECT_EQ(om.name, "small");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(om.weights_view.data()) % 64, 0u);
  const std::string weights(om.weights_view);
  std::filesystem::resize_file(dir / "m.om", 0);
  EXPECT_EQ(om.weights_view, weights);
  EXPECT_EQ(weights.size(), 24u);
}

TEST(Om, AMappedFileMayBeReplacedByAnother) {
  const aoe::tests::TempDir dir;
  const std::string bytes = small_om().serialize();
  write_file_atomically(dir / "m.om", bytes);
  const GearedOm mapped = GearedOm::load(dir / "m.om", {}, FileAs::kMapping);
  write_file_atomically(dir / "m.om", "another file");
  EXPECT_EQ(mapped.serialize(), bytes);
}

TEST(Om, LoadSaysWhatIsWrongWithTheFile) {
  const aoe::tests::TempDir dir;
  expect_not_loaded(dir / "missing.om", "No such file");
  expect_not_loaded(dir.path(), "not a regular file");
  write_file_atomically(dir / "empty.om", "");
  expect_not_loaded(dir / "empty.om", "is empty");
  write_file_atomically(dir / "text.om", std::string(10'000, 'a'));
  expect_not_loaded(dir / "text.om", "is not an om file");
  write_file_atomically(dir / "cut.om", small_om().serialize().substr(0, 5000));
  expect_not_loaded(dir / "cut.om", "is truncated: 5000 bytes instead of");
}

TEST(Om, NamesABackendThatThisProgramDoesNotHave) {
  std::string graph = graph_to_cbor(small_om());
  const std::string known = "reference", unknown = "telepathy";
  for (std::size_t at = graph.find(known); at != std::string::npos; at = graph.find(known, at))
    graph.replace(at, known.size(), unknown);
  Om om;
  try {
    graph_from_cbor(graph, "test.om", om);
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm);
    EXPECT_NE(std::string(e.what()).find("unknown word 'telepathy'"), std::string::npos)
        << e.what();
  }
}

TEST(Om, TextsAreUtf8) {
  Om om = small_om();
  om.texts.list = {"a", "\xC3\x80"};
  parse_copy(om.serialize());
  om.texts.list.emplace_back("\xC3\x80\x80");
  expect_refused(om.serialize(), "a text that is not UTF-8");
}

}  // namespace
}  // namespace aoe::runtime
