// Loads, draws inputs, runs in turns.
#include "tools/aoe_compare/pair.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/error.h"
#include "base/random_tensor.h"
#include "base/tensor_error.h"
#include "runtime/executor.h"
#include "runtime/geared_om.h"
#include "runtime/om_tuning.h"

namespace aoe::tools {
namespace {

class Model {
 public:
  Model(const std::string& path, const PairSettings& settings)
      : executor_(runtime::GearedOm::load_single(path, settings.om_keys),
                  {.threads = settings.threads}) {
    for (std::size_t i = 0; i < executor_.input_count(); ++i)
      draw_input(executor_.input(i).desc, i);
    for (std::size_t i = 0; i < executor_.output_count(); ++i) {
      results_.push_back(std::make_unique<Constant>(dense(executor_.output(i).desc)));
      outputs_.push_back({results_.back()->desc(), results_.back()->mutable_data()});
    }
  }

  double run_ms() {
    const auto begin = std::chrono::steady_clock::now();
    executor_.run(inputs_, outputs_);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  const std::vector<Tensor>& outputs() const { return outputs_; }

  /// "31 + 2"
  std::string bank_hits() const {
    const runtime::Om& om = executor_.om();
    const auto subgraphs = om.tuning.value("subgraphs", nlohmann::json::array()).size();
    return std::to_string(runtime::tuned_ops(om).bank_keys.size()) + " + " +
           std::to_string(subgraphs);
  }

 private:
  static TensorDesc dense(TensorDesc desc) {
    desc.format = Format::kND;
    desc.c0 = 0;
    return desc;
  }

  void draw_input(const TensorDesc& desc, std::size_t seed) {
    values_.push_back(random_tensor(dense(desc), seed + 1, 0, 1));
    inputs_.push_back(values_.back()->view());
  }

  runtime::Executor executor_;
  std::vector<ConstantPtr> values_;
  std::vector<std::unique_ptr<Constant>> results_;
  std::vector<Tensor> inputs_, outputs_;
};

/// The largest error of all outputs; infinity where one is not a number.
double difference(const Model& a, const Model& b) {
  double largest = 0;
  AOE_CHECK(a.outputs().size() == b.outputs().size(), "two oms of one model");
  for (std::size_t o = 0; o < a.outputs().size(); ++o) {
    const double error = error_of_range(a.outputs()[o], b.outputs()[o]);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

}  // namespace

Pair parse_pair(const std::string& text) {
  const std::size_t equals = text.find('='), comma = text.find(',', equals);
  if (equals == std::string::npos || comma == std::string::npos)
    throw Error(ExitCode::kUsage, "is not NAME=BEFORE.om,AFTER.om", text);
  return {text.substr(0, equals), text.substr(equals + 1, comma - equals - 1),
          text.substr(comma + 1)};
}

PairTimes measure(const Pair& pair, const PairSettings& settings) {
  Model before(pair.before_om, settings), after(pair.after_om, settings);
  Model* const both[] = {&before, &after};
  std::vector<double> times_ms[2], ratios;
  for (int round = 0; round < settings.rounds; ++round) {
    double round_ms[2] = {};
    for (int turn = 0; turn < 2; ++turn) {
      const int i = (turn + round) % 2;
      std::vector<double> now_ms;
      double spent_ms = 0;
      both[i]->run_ms();  // finds its caches
      while (spent_ms < settings.seconds * 1e3) {
        now_ms.push_back(both[i]->run_ms());
        spent_ms += now_ms.back();
      }
      times_ms[i].insert(times_ms[i].end(), now_ms.begin(), now_ms.end());
      round_ms[i] = median(std::move(now_ms));
    }
    ratios.push_back(round_ms[0] / round_ms[1]);
  }
  return {.before_ms = median(times_ms[0]),
          .after_ms = median(times_ms[1]),
          .ratio = median(ratios),
          .ratio_interval = median_interval(ratios),
          .difference = difference(before, after),
          .before_hits = before.bank_hits(),
          .after_hits = after.bank_hits()};
}

}  // namespace aoe::tools
