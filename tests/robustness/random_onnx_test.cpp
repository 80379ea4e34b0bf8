// Random ONNX models of one to six operators, and of control flow around such (*RandomControl*), through import, passes, compilation and the runtime, each node compiled to
// a random candidate, against the reference. AOE_FIRST_SEED=n and AOE_MODELS=n choose others: one seed is
//
//   AOE_FIRST_SEED=4711 AOE_MODELS=1 aoe_robustness_test --gtest_filter='*RandomOnnx*/0'
//
// *RandomOpen* leaves sizes of the inputs of both kinds open, which the run then gives.
//
// AOE_KEEP_MODEL=FILE.onnx writes the (last) model there.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/file.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/random_candidates.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/robustness/crash_note.h"
#include "tests/robustness/model_draw.h"
#include "tests/robustness/open_inputs.h"
#include "tests/robustness/random_control.h"
#include "tests/seeds.h"

namespace aoe::tests {
namespace {

struct Tally {
  int run = 0, refused = 0;
  int with_bodies = 0;  ///< of those that ran
  int other_sizes = 0;  ///< of those that ran
  int left_out = 0;     ///< open sizes that the import says it needs
};

/// What the reference makes of it; an error when it refuses the values (an integer divided by zero).
std::string refusal(const graph::Graph& graph) {
  try {
    interpret(graph, random_inputs(graph, 1));
    interpret(graph, random_inputs(graph, 2));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_wild(const std::string& output) {
  return output.find(kWildPrefix) != std::string::npos;
}

/// Some operators of com.microsoft are taken apart by sizes, and a Squeeze without axes has as many dimensions as they say.
bool needs_sizes(const std::string& error) {
  return error.find("known only when it runs") != std::string::npos ||
         error.find("nobody knows how many dimensions") != std::string::npos;
}

/// At sizes for which the model is valid as well, and then at those for which it was drawn again.
void add_other_sizes(const onnx::ModelProto& model, const onnx::ModelProto& given, Random& random,
                     std::vector<graph::Graph>& meanings) {
  constexpr std::int64_t kLarge = 1 << 16;
  for (int attempts = 0; attempts < 3; ++attempts) {
    try {
      graph::Graph other =
          import_bytes(model.SerializeAsString(), other_sizes_of(model, given, random));
      const bool is_small = std::ranges::all_of(other.values, [](const graph::Value& value) {
        return !is_static(value.desc.shape) || element_count(value.desc.shape) < kLarge;
      });
      if (is_small && refusal(other).empty()) meanings.push_back(std::move(other));
    } catch (const Error&) {  // they contradict each other, or constants
    }
  }
  if (meanings.size() > 1) meanings.push_back(meanings.front());
}

using Draw = onnx::ModelProto (*)(std::uint32_t seed);
enum class Inputs { kStatic, kOpen };

void check_model(Draw draw, Inputs inputs, const Seeds& seeds, std::uint32_t seed, Tally& tally) {
  note_for_crash(seeds.again(seed), kHangSeconds);
  const onnx::ModelProto model = draw(seed);
  if (model.graph().output_size() == 0) return;
  const std::string given = model.SerializeAsString();
  const onnx::ModelProto taken = inputs == Inputs::kOpen ? with_open_inputs(model, seed) : model;
  const std::string bytes = taken.SerializeAsString();
  if (const char* const kept = std::getenv("AOE_KEEP_MODEL")) write_file_atomically(kept, bytes);
  SCOPED_TRACE(seeds.again(seed));
  Random random(seed);
  std::string story;  // outlives what is thrown
  try {
    const graph::Graph meaning = import_bytes(given);
    story = meaning.to_text();
    graph::Graph graph = import_bytes(bytes, open_sizes_of(taken));
    if (!random.one_in(4)) graph::run_passes(graph, {});
    const auto socs = compiler::loopnest::test_socs();
    auto options = compiler::options_for(socs[random.below(socs.size())],
                                         1 + static_cast<int>(random.below(3)));
    options.reuse_memory = !random.one_in(4);
    if (!random.one_in(3)) options.fixed = compiler::random_candidates(graph, options.soc, random);
    story += "for " + options.soc.version + ", threads " + std::to_string(options.soc.threads) +
             "\n" + graph.to_text() + compiler::to_text(options.fixed);
    SCOPED_TRACE(story);
    if (seeds.is_one()) std::cout << story << std::flush;
    if (const std::string why = refusal(meaning); !why.empty()) {
      ++tally.refused;
      EXPECT_THROW(compiler::expect_compiled_like_reference(graph, options, meaning, is_wild),
                   Error)
          << why;
      return;
    }
    std::vector<graph::Graph> meanings = {meaning};
    if (inputs == Inputs::kOpen) add_other_sizes(taken, model, random, meanings);
    tally.other_sizes += static_cast<int>(meanings.size()) > 1 ? 1 : 0;
    compiler::expect_compiled_like_each(graph, options, meanings, is_wild);
    ++tally.run;
    if (std::ranges::any_of(meaning.nodes, [](const auto& node) { return !node.bodies.empty(); }))
      ++tally.with_bodies;
  } catch (const Error& error) {
    if (inputs == Inputs::kOpen && needs_sizes(error.what()))
      ++tally.left_out;
    else
      ADD_FAILURE() << error.what() << "\n" << story;
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what() << "\n" << story;
  }
}

Tally check_models(Draw draw, Inputs inputs, std::uint32_t shard, std::uint32_t by_default) {
  const Seeds seeds("AOE_MODELS", by_default);
  std::cout << seeds.text();
  Tally tally;
  for (const std::uint32_t seed : seeds.of_shard(shard)) {
    check_model(draw, inputs, seeds, seed, tally);
    if (testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > 5)
      break;
  }
  note_for_crash("behind the models", 0);
  std::cout << tally.run << " models ran, " << tally.refused << " refused their inputs, "
            << tally.left_out << " were left out, " << tally.other_sizes
            << " had other sizes as well\n";
  EXPECT_GE(tally.run, 8 * tally.refused);
  return tally;
}

class RandomOnnx : public testing::TestWithParam<std::uint32_t> {};
TEST_P(RandomOnnx, RunsLikeTheReference) {
  check_models(random_onnx, Inputs::kStatic, GetParam(), 1000);
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomOnnx, testing::Range(0u, Seeds::kShards));

class RandomControl : public testing::TestWithParam<std::uint32_t> {};
TEST_P(RandomControl, RunsLikeTheReference) {
  const Tally tally = check_models(random_control_flow, Inputs::kStatic, GetParam(), 150);
  if (tally.run > 10) {
    EXPECT_GT(2 * tally.with_bodies, tally.run) << "the rest was decided early";
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomControl, testing::Range(0u, Seeds::kShards));

onnx::ModelProto random_of_either_kind(std::uint32_t seed) {
  return seed % 3 == 0 ? random_control_flow(seed) : random_onnx(seed);
}

class RandomOpen : public testing::TestWithParam<std::uint32_t> {};
TEST_P(RandomOpen, RunsLikeTheReference) {
  check_models(random_of_either_kind, Inputs::kOpen, GetParam(), 300);
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomOpen, testing::Range(0u, Seeds::kShards));

}  // namespace
}  // namespace aoe::tests
