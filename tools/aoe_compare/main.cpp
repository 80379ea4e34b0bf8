// aoe_compare: two oms of each model, interleaved in one run: medians, their ratio, and the
// geometric mean of all ratios. Made for subgraph tuning: the om that operator tuning wrote without
// it against the one that it wrote behind it.
//
//   aoe_compare squeezenet=before.om,after.om bert=a.om,b.om
//
// Prints a Markdown table; bank hits are operators + subgraphs that each om took from the banks, and
// a ratio is the median of the rounds' own. Both oms get the same inputs; the exit code is 8 when
// their outputs differ by more than --limit of the range. scripts/compare_subgraph_tuning makes the
// oms and runs this.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "base/check.h"
#include "base/error.h"
#include "base/tensor_error.h"
#include "runtime/executor.h"
#include "tools/common/exit_codes.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

struct Settings {
  std::vector<std::string> pairs;
  int threads = 0;
  int rounds = 15;
  double seconds = 0.1;  ///< of each om in each round
  double limit = 1e-3;
};

double median(std::vector<double> values) {
  AOE_CHECK(!values.empty(), "median of nothing");
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

class Model {
 public:
  Model(const std::string& path, int threads)
      : executor_(runtime::Om::load(path), {.threads = threads}) {
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
    const nlohmann::json& tuning = executor_.om().tuning;
    const nlohmann::json nodes = tuning.value("nodes", nlohmann::json::array());
    const auto hits = std::ranges::count_if(
        nodes, [](const nlohmann::json& node) { return node.value("source", "") == "bank"; });
    const auto subgraphs = tuning.value("subgraphs", nlohmann::json::array()).size();
    return std::to_string(hits) + " + " + std::to_string(subgraphs);
  }

 private:
  static TensorDesc dense(TensorDesc desc) {
    desc.format = Format::kND;
    desc.c0 = 0;
    return desc;
  }

  void draw_input(const TensorDesc& desc, std::size_t seed) {
    std::mt19937 random(static_cast<std::uint32_t>(seed) + 1);
    auto value = std::make_unique<Constant>(dense(desc));
    std::uniform_real_distribution<float> draw(0, 1);
    for (std::int64_t i = 0; i < element_count(desc.shape) && desc.dtype == DataType::kFloat; ++i)
      static_cast<float*>(value->mutable_data())[i] = draw(random);
    inputs_.push_back({value->desc(), value->mutable_data()});
    values_.push_back(std::move(value));
  }

  runtime::Executor executor_;
  std::vector<std::unique_ptr<Constant>> values_, results_;
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

struct Row {
  std::string name;
  double before_ms = 0, after_ms = 0, ratio = 0, difference = 0;
  std::string before_hits, after_hits;
};

Row measure(const std::string& pair, const Settings& settings) {
  const std::size_t equals = pair.find('='), comma = pair.find(',', equals);
  if (equals == std::string::npos || comma == std::string::npos)
    throw Error(ExitCode::kUsage, "is not NAME=BEFORE.om,AFTER.om", pair);
  Model before(pair.substr(equals + 1, comma - equals - 1), settings.threads);
  Model after(pair.substr(comma + 1), settings.threads);
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
  return {.name = pair.substr(0, equals),
          .before_ms = median(times_ms[0]),
          .after_ms = median(times_ms[1]),
          .ratio = median(ratios),
          .difference = difference(before, after),
          .before_hits = before.bank_hits(),
          .after_hits = after.bank_hits()};
}

ExitCode run(const po::variables_map& flags) {
  const Settings settings{.pairs = flags["pair"].as<std::vector<std::string>>(),
                          .threads = flags["threads"].as<int>(),
                          .rounds = flags["rounds"].as<int>(),
                          .seconds = flags["seconds"].as<double>(),
                          .limit = flags["limit"].as<double>()};
  std::printf(
      "| model | before ms | after ms | before / after | bank hits before | bank hits after | "
      "difference |\n");
  std::printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  double log_sum = 0, least = INFINITY;
  bool agree = true;
  for (const std::string& pair : settings.pairs) {
    const Row row = measure(pair, settings);
    log_sum += std::log(row.ratio);
    least = std::min(least, row.ratio);
    agree &= row.difference <= settings.limit;
    std::printf("| %s | %.3f | %.3f | %.3f | %s | %s | %.1e |\n", row.name.c_str(), row.before_ms,
                row.after_ms, row.ratio, row.before_hits.c_str(), row.after_hits.c_str(),
                row.difference);
    std::fflush(stdout);
  }
  std::printf("\ngeometric mean %.3f, least %.3f\n",
              std::exp(log_sum / static_cast<double>(settings.pairs.size())), least);
  return agree ? ExitCode::kSuccess : kOutputsDiffer;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{
      .name = "aoe_compare",
      .synopsis = "aoe_compare NAME=BEFORE.om,AFTER.om ... [flags]",
      .summary =
          "Two oms of each model, interleaved in one run: medians, their ratio, and the "
          "geometric mean of all ratios. Exit code 8 when outputs differ by more than the limit.",
      .examples = "  aoe_compare squeezenet=before.om,after.om bert=a.om,b.om\n"};
  auto add = tool.flags.add_options();
  add("pair",
      po::value<std::vector<std::string>>()->required()->value_name("NAME=BEFORE.om,AFTER.om"),
      "may be given several times, --pair left out");
  add("threads", number_or(0, "N"), "0: what the om was compiled for");
  add("rounds", number_or(15, "N"), "interleaved rounds");
  add("seconds", po::value<double>()->default_value(0.1, "0.1")->value_name("S"),
      "of each om in each round");
  add("limit", po::value<double>()->default_value(1e-3, "0.001")->value_name("SHARE"),
      "largest difference allowed, of the outputs' range");
  tool.positional.add("pair", -1);
  tool.run = aoe::tools::run;
  return run_tool(argc, argv, std::move(tool));
}
