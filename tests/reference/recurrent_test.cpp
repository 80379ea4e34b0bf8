// RNN, GRU and LSTM: single steps by hand, directions and sequence lengths.
#include <cmath>

#include "nn_values.h"

namespace aoe::reference {
namespace {

double sigmoid(double v) {
  return 1 / (1 + std::exp(-v));
}

/// One unit, one input: every weight is a number one can follow. Gates in ONNX's order: input, output, forget, cell.
TEST(Lstm, OneStepByHand) {
  const Values x{{1, 1, 1}, {2}}, w{{1, 4, 1}, {0.1F, 0.2F, 0.3F, 0.4F}},
      r{{1, 4, 1}, {0.5F, 0.6F, 0.7F, 0.8F}};
  const Values b{{1, 8}, {0.01F, 0.02F, 0.03F, 0.04F, 0.05F, 0.06F, 0.07F, 0.08F}};
  const Values h0{{1, 1, 1}, {0.5F}}, c0{{1, 1, 1}, {-1}}, p{{1, 3}, {0.3F, 0.2F, 0.1F}};
  const auto y = call({.type = "DynamicRNN", .version = 7},
                      {x.tensor(), w.tensor(), r.tensor(), b.tensor(), nullptr, h0.tensor(),
                       c0.tensor(), p.tensor()},
                      3);
  const double i = sigmoid(0.2 + 0.25 + 0.06 + 0.3 * -1);
  const double f = sigmoid(0.6 + 0.35 + 0.10 + 0.1 * -1);
  const double c = f * -1 + i * std::tanh(0.8 + 0.4 + 0.12);
  const double o = sigmoid(0.4 + 0.3 + 0.08 + 0.2 * c);
  expect_near(y.values[2], {c});
  expect_near(y.values[1], {o * std::tanh(c)});
  EXPECT_EQ(y.values[0], y.values[1]);
}

/// Gates in ONNX's order: update, reset, candidate.
TEST(Gru, LinearBeforeResetScalesTheRecurrentSum) {
  const Values x{{1, 1, 1}, {1}}, w{{1, 3, 1}, {0.1F, 0.2F, 0.3F}},
      r{{1, 3, 1}, {0.4F, 0.5F, 0.6F}};
  const Values b{{1, 6}, {0, 0, 0, 0, 0, 0.7F}}, h0{{1, 1, 1}, {2}};
  const double update = sigmoid(0.1 + 0.8), reset = sigmoid(0.2 + 1.0);
  for (const std::int64_t linear : {0, 1}) {
    const auto y = call({.type = "DynamicGRUV2",
                         .version = 7,
                         .attrs = attrs_of({{"linear_before_reset", linear}})},
                        {x.tensor(), w.tensor(), r.tensor(), b.tensor(), nullptr, h0.tensor()}, 2);
    const double recurrent = linear != 0 ? reset * (0.6 * 2 + 0.7) : 0.6 * (reset * 2) + 0.7;
    expect_near(y.values[1], {(1 - update) * std::tanh(0.3 + recurrent) + update * 2});
  }
}

class RecurrentTest : public testing::TestWithParam<std::pair<const char*, std::int64_t>> {};

/// A bidirectional network is a forward and a reverse one; reverse is forward over the sequence back to front.
TEST_P(RecurrentTest, BidirectionalIsForwardAndReverse) {
  const auto [type, gates] = GetParam();
  constexpr std::int64_t kSteps = 4, kBatch = 2, kInput = 3, kHidden = 5;
  const Values x = random_values({kSteps, kBatch, kInput}, 14);
  const Values w = random_values({2, gates * kHidden, kInput}, 15),
               r = random_values({2, gates * kHidden, kHidden}, 16);
  const auto run_direction = [&, op_type = std::string(type)](const std::string& direction,
                                                              const Values& wd, const Values& rd,
                                                              const Values& input) {
    return call({.type = op_type, .version = 7, .attrs = attrs_of({{"direction", direction}})},
                {input.tensor(), wd.tensor(), rd.tensor()}, 2);
  };
  const auto both = run_direction("bidirectional", w, r, x);
  const auto forward = run_direction("forward", slice(w, 0, 1), slice(r, 0, 1), x);
  const auto reverse = run_direction("reverse", slice(w, 1, 2), slice(r, 1, 2), x);
  Doubles joined = forward.values[1];
  joined.insert(joined.end(), reverse.values[1].begin(), reverse.values[1].end());
  EXPECT_EQ(both.values[1], joined);

  Values backwards = x;
  for (std::int64_t t = 0; t < kSteps; ++t) {
    std::copy_n(x.data.begin() + t * kBatch * kInput, kBatch * kInput,
                backwards.data.begin() + (kSteps - 1 - t) * kBatch * kInput);
  }
  EXPECT_EQ(reverse.values[1],
            run_direction("forward", slice(w, 1, 2), slice(r, 1, 2), backwards).values[1]);
}

/// With a length, the state stays where the sequence ended, and outputs behind it are zero.
TEST_P(RecurrentTest, ShortSequencesEndEarly) {
  const auto [type, gates] = GetParam();
  const Values x = random_values({3, 1, 2}, 17),
               head{{2, 1, 2}, {x.data.begin(), x.data.begin() + 4}};
  const Values w = random_values({1, gates * 2, 2}, 18), r = random_values({1, gates * 2, 2}, 19);
  const auto lengths = make_tensor(DataType::kInt32, {1}, {2});
  const OpCall op{.type = type, .version = 7};
  const auto whole = call(op, {x.tensor(), w.tensor(), r.tensor(), nullptr, lengths}, 2);
  const auto cut = call(op, {head.tensor(), w.tensor(), r.tensor()}, 2);
  EXPECT_EQ(whole.values[1], cut.values[1]);
  Doubles padded = cut.values[0];
  padded.resize(whole.values[0].size(), 0.0);
  EXPECT_EQ(whole.values[0], padded);
}

INSTANTIATE_TEST_SUITE_P(Cells, RecurrentTest,
                         testing::Values(std::pair{"CommonRNN", 1}, std::pair{"DynamicGRUV2", 3},
                                         std::pair{"DynamicRNN", 4}),
                         [](const auto& param) { return std::string(param.param.first); });

}  // namespace
}  // namespace aoe::reference
