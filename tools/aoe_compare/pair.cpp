// Loads, draws inputs, runs in turns.
#include "tools/aoe_compare/pair.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/random_tensor.h"
#include "base/tensor_error.h"
#include "runtime/executor.h"
#include "runtime/om/geared_om.h"
#include "runtime/om/om_tuning.h"
#include "tools/aoe_compare/own_process.h"

namespace aoe::tools {
namespace {

class Model {
 public:
  Model(const std::string& path, const PairSettings& settings)
      : executor_(runtime::GearedOm::load_single(path, settings.om_keys),
                  {.threads = settings.threads}) {
    for (std::size_t i = 0; i < executor_.input_count(); ++i) {
      check_is_closed(executor_.input(i), path);
      draw_input(executor_.input(i).desc, i);
    }
    for (std::size_t i = 0; i < executor_.output_count(); ++i) {
      outputs_.push_back({dense(executor_.output(i).desc), nullptr});
      if (!is_static(outputs_.back().desc.shape)) continue;
      results_.push_back(std::make_unique<Constant>(outputs_.back().desc));
      outputs_.back().data = results_.back()->mutable_data();
    }
  }

  double run_ms() {
    // What only a run can size, each run gives anew.
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (const TensorDesc desc = dense(executor_.output(i).desc); !is_static(desc.shape))
        outputs_[i] = {desc, nullptr};
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
  static void check_is_closed(const runtime::OmTensor& input, const std::string& path) {
    if (is_static(input.desc.shape)) return;
    throw Error(
        ExitCode::kOm,
        "has an input of open sizes, '" + input.name + "' of " + to_string(input.desc.shape), path,
        "compile it with sizes, --input_shape");
  }

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

/// Outputs of two models are no two answers to one question.
void check_alike(const Model& a, const Model& b, const Pair& pair) {
  const auto is_alike = [](const Tensor& left, const Tensor& right) {
    return left.desc == right.desc;
  };
  if (!std::ranges::equal(a.outputs(), b.outputs(), is_alike))
    throw Error(ExitCode::kUsage, "outputs of the two oms have other types or shapes", pair.name,
                "give two oms of one model");
}

/// The largest error of all outputs; infinity where one is not a number, or of another size.
double difference(const Model& a, const Model& b) {
  double largest = 0;
  for (std::size_t o = 0; o < a.outputs().size(); ++o) {
    if (a.outputs()[o].desc != b.outputs()[o].desc) return INFINITY;
    const double error = error_of_range(a.outputs()[o], b.outputs()[o]);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

struct Round {
  int load = 0;
  double before_ms = 0, after_ms = 0;  ///< medians of its runs
};

double median_ms(Model& model, double seconds) {
  std::vector<double> now_ms;
  double spent_ms = 0;
  model.run_ms();  // finds its caches
  while (spent_ms < seconds * 1e3) {
    now_ms.push_back(model.run_ms());
    spent_ms += now_ms.back();
  }
  return median(now_ms);
}

/// Medians before and after. Another om begins each round.
std::pair<double, double> run_round(Model& before, Model& after, int number, double seconds) {
  double before_ms = 0;
  if (number % 2 == 0) before_ms = median_ms(before, seconds);
  const double after_ms = median_ms(after, seconds);
  if (number % 2 == 1) before_ms = median_ms(before, seconds);
  return {before_ms, after_ms};
}

/// Rounds [begin, end), and what no round changes.
nlohmann::json measure_load(const Pair& pair, const PairSettings& settings, int begin, int end) {
  Model before(pair.before_om, settings), after(pair.after_om, settings);
  check_alike(before, after, pair);
  nlohmann::json rounds = nlohmann::json::array();
  for (int i = begin; i < end; ++i) rounds.push_back(run_round(before, after, i, settings.seconds));
  const double outputs_differ_by = difference(before, after);
  return {{"rounds", std::move(rounds)},
          {"difference",
           std::isfinite(outputs_differ_by) ? nlohmann::json(outputs_differ_by) : nlohmann::json()},
          {"before_hits", before.bank_hits()},
          {"after_hits", after.bank_hits()}};
}

/// Other programs, or a hypervisor, take processor time for seconds, not from both oms alike: a round in which either took
/// clearly longer than in its fastest says nothing. Where that is most of them, it is what the machine is like, and all count.
/// Returns how many went.
int leave_out_noisy(std::vector<Round>& rounds) {
  constexpr double kNoise = 1.1, kFewest = 1.0 / 3;
  const double before_ms = std::ranges::min(rounds, {}, &Round::before_ms).before_ms;
  const double after_ms = std::ranges::min(rounds, {}, &Round::after_ms).after_ms;
  const auto is_noisy = [&](const Round& round) {
    return round.before_ms > kNoise * before_ms || round.after_ms > kNoise * after_ms;
  };
  const auto noisy = std::ranges::count_if(rounds, is_noisy);
  if (static_cast<double>(rounds.size()) - static_cast<double>(noisy) <
      kFewest * static_cast<double>(rounds.size()))
    return 0;
  std::erase_if(rounds, is_noisy);
  return static_cast<int>(noisy);
}

void conclude(const std::vector<Round>& rounds, PairTimes& times) {
  std::vector<double> before_ms, after_ms;
  std::vector<std::size_t> load_begins;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (i == 0 || rounds[i].load != rounds[i - 1].load) load_begins.push_back(i);
    before_ms.push_back(rounds[i].before_ms);
    after_ms.push_back(rounds[i].after_ms);
  }
  const Comparison comparison = compare_groups(before_ms, after_ms, load_begins, 0);
  times.before_ms = median(before_ms);
  times.after_ms = median(after_ms);
  times.ratio = comparison.speedup;
  times.ratio_interval = {comparison.low, comparison.high};
}

}  // namespace

Pair parse_pair(const std::string& text) {
  const std::size_t equals = text.find('='), comma = text.find(',', equals);
  if (equals == std::string::npos || equals == 0 || comma == std::string::npos)
    throw Error(ExitCode::kUsage, "is not NAME=BEFORE.om,AFTER.om", text);
  return {text.substr(0, equals), text.substr(equals + 1, comma - equals - 1),
          text.substr(comma + 1)};
}

void check(const Pair& pair, const PairSettings& settings) {
  in_own_process([&]() -> nlohmann::json {
    const Model before(pair.before_om, settings), after(pair.after_om, settings);
    check_alike(before, after, pair);
    return {};
  });
}

PairTimes measure(const Pair& pair, const PairSettings& settings) {
  PairTimes times;
  std::vector<Round> rounds;
  const int loads = std::min(settings.loads, settings.rounds);
  for (int load = 0; load < loads; ++load) {
    const int begin = load * settings.rounds / loads, end = (load + 1) * settings.rounds / loads;
    const nlohmann::json answer =
        in_own_process([&] { return measure_load(pair, settings, begin, end); });
    for (const nlohmann::json& round : answer.at("rounds"))
      rounds.push_back({load, round.at(0), round.at(1)});
    const nlohmann::json& difference = answer.at("difference");
    times.difference = difference.is_null() ? INFINITY : difference.get<double>();
    times.before_hits = answer.at("before_hits");
    times.after_hits = answer.at("after_hits");
  }
  times.noisy_rounds = leave_out_noisy(rounds);
  conclude(rounds, times);
  return times;
}

}  // namespace aoe::tools
