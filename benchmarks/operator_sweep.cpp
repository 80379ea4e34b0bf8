// operator_sweep: every operator alone, untuned, against ONNX Runtime, interleaved in one run; the slowest are printed first.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/temporary_directory.h"
#include "benchmarks/bound_om.h"
#include "benchmarks/operator_case.h"
#include "compiler/pipeline.h"
#include "compiler/soc.h"
#include "options/data_dirs.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::benchmarks {
namespace {
namespace fs = std::filesystem;

struct Settings {
  int threads = 1;
  int rounds = 3;
  double seconds = 0.05;
  bool is_alone = false;  ///< without the peer
  bool is_best = false;   ///< the shortest times count, not their medians
  fs::path server, scratch;

  double of(const std::vector<double>& ms) const {
    return is_best ? *std::ranges::min_element(ms) : median(ms);
  }
};

struct Row {
  std::string text;
  double our_ms = 0, peer_ms = 0;
  double ratio = 0;       ///< median of the rounds' own, or of the best; 0 without the peer
  double difference = 0;  ///< largest, as a share of the output's range
  std::string impls;      ///< of the nodes that the passes leave
  std::string failure;    ///< ours; nothing else is known then
  std::string peer_refusal;
};

// ---- one case ----

/// "reference", "elementwise + reduce": each once.
std::string impls_of(const std::vector<compiler::NodeReport>& nodes) {
  std::set<std::string> names;
  for (const compiler::NodeReport& node : nodes) names.insert(node.impl);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
  return text;
}

/// ONNX Runtime, started when it is first asked for and again when a model has killed it.
class Peer {
 public:
  explicit Peer(const Settings& settings) : settings_(settings) {}

  /// The results; Error(kFailure) when it has no kernel.
  std::vector<NamedTensor> load(const OperatorCase& model) {
    if (!process_ || !process_->is_alive()) process_.emplace(settings_.server);
    const fs::path file = settings_.scratch / "case.onnx";
    write_file_atomically(file, model.model);
    process_->load(file, settings_.threads);
    process_->feed(model.inputs, settings_.scratch);
    return process_->outputs(settings_.scratch);
  }
  double run() { return settings_.of(process_->run(settings_.seconds, 3)); }
  void wait_until_idle() const { process_->wait_until_idle(); }

 private:
  const Settings& settings_;
  std::optional<OnnxRuntimePeer> process_;
};

void time_rounds(Row& row, BoundOm& om, Peer* peer, const Settings& settings) {
  std::vector<double> ours, theirs, ratios;
  for (int round = 0; round < settings.rounds; ++round) {
    double ms[2] = {};
    for (int turn = 0; turn < 2; ++turn) {
      const bool is_ours = (turn + round) % 2 == 0;  // neither always runs first
      if (!is_ours && peer == nullptr) continue;
      if (peer != nullptr && settings.threads > 1) peer->wait_until_idle();
      ms[is_ours ? 0 : 1] = is_ours ? settings.of(om.run(settings.seconds, 3)) : peer->run();
    }
    ours.push_back(ms[0]);
    if (peer == nullptr) continue;
    theirs.push_back(ms[1]);
    ratios.push_back(ms[1] / ms[0]);
  }
  row.our_ms = settings.of(ours);
  if (peer == nullptr) return;
  row.peer_ms = settings.of(theirs);
  row.ratio = settings.is_best ? row.peer_ms / row.our_ms : median(ratios);
}

Row sweep(const std::string& text, const compiler::Soc& soc, Peer* peer, const Settings& settings) {
  Row row{.text = text};
  const OperatorCase model = make_operator_case(text);
  try {
    const compiler::ModelSource source{.path = "case.onnx",
                                       .bytes = std::make_shared<const std::string>(model.model),
                                       .import = {.input_shapes = model.open_inputs}};
    BoundOm om(compiler::compile(compiler::prepare(source, {.soc = soc}), {.soc = soc}), "case",
               settings.threads);
    om.feed(model.inputs);
    row.impls = impls_of(om.nodes());
    std::vector<NamedTensor> expected;
    try {
      if (peer != nullptr) expected = peer->load(model);
    } catch (const Error& error) {
      row.peer_refusal = error.what();
      peer = nullptr;
    }
    const std::vector<Tensor>& outputs = om.outputs();
    for (std::size_t i = 0; i < expected.size(); ++i)
      row.difference =
          std::max(row.difference, difference(outputs.at(i), expected[i].value->view()));
    time_rounds(row, om, peer, settings);
  } catch (const Error& error) {
    row.failure = error.what();
  }
  return row;
}

// ---- what is printed ----

/// Slowest first, what cannot be compared behind them.
void sort(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, {}, [](const Row& row) -> double {
    if (!row.failure.empty()) return -INFINITY;
    return row.ratio > 0 ? row.ratio : INFINITY;
  });
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("| ratio | ours ms | ONNX Runtime ms | difference | Impls | case |\n");
  fmt::print("| ---: | ---: | ---: | ---: | --- | --- |\n");
  for (const Row& row : rows) {
    if (!row.failure.empty())
      fmt::print("| fails | | | | | {}: {} |\n", row.text, row.failure);
    else if (row.ratio > 0)
      fmt::print("| {:.2f} | {:.4f} | {:.4f} | {:.0e} | {} | {} |\n", row.ratio, row.our_ms,
                 row.peer_ms, row.difference, row.impls, row.text);
    else
      fmt::print("| | {:.4f} | {} | | {} | {} |\n", row.our_ms,
                 row.peer_refusal.empty() ? "" : "refuses", row.impls, row.text);
  }
}

void print_summary(const std::vector<Row>& rows) {
  double sum = 0;
  int compared = 0, slower = 0, half = 0, failures = 0;
  for (const Row& row : rows) {
    if (!row.failure.empty()) ++failures;
    if (row.ratio == 0) continue;
    ++compared;
    sum += std::log(row.ratio);
    if (row.ratio < 1) ++slower;
    if (row.ratio < 0.5) ++half;
  }
  fmt::print("\n{} cases, {} compared", rows.size(), compared);
  if (compared > 0)
    fmt::print(": geometric mean {:.2f}, {} slower, {} of them at less than half the speed",
               std::exp(sum / compared), slower, half);
  fmt::print("{}\n", failures > 0 ? fmt::format("; {} fail", failures) : "");
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    nlohmann::json entry = {{"case", row.text}};
    if (!row.failure.empty()) {
      entry["failure"] = row.failure;
    } else {
      entry["impls"] = row.impls;
      entry["our_ms"] = row.our_ms;
    }
    if (row.ratio > 0) {
      entry["onnxruntime_ms"] = row.peer_ms;
      entry["ratio"] = row.ratio;
      entry["difference"] = row.difference;
    }
    if (!row.peer_refusal.empty()) entry["refusal"] = row.peer_refusal;
    list.push_back(std::move(entry));
  }
  std::cout << json_text(list, 1) << '\n';
}

ExitCode run(const tools::po::variables_map& flags) {
  const TemporaryDirectory scratch("operator_sweep");
  const Settings settings{.threads = std::max(1, tools::threads_of(flags)),
                          .rounds = flags["rounds"].as<int>(),
                          .seconds = flags["seconds"].as<double>(),
                          .is_alone = flags["ours"].as<bool>(),
                          .is_best = flags["best"].as<bool>(),
                          .server = fs::path(AOE_BENCHMARKS_DIR) / "onnxruntime/server.js",
                          .scratch = scratch.path()};
  const fs::path file = flags.contains("cases")
                            ? fs::path(tools::text_of(flags, "cases"))
                            : fs::path(AOE_BENCHMARKS_DIR) / "operator_cases.txt";
  const compiler::Soc soc =
      compiler::soc_from_version(tools::text_of(flags, "soc_version"),
                                 (options::config_directory() / "soc").string(), settings.threads);
  Peer peer(settings);
  std::vector<Row> rows;
  for (const std::string& text : read_operator_cases(file, tools::text_of(flags, "only"))) {
    rows.push_back(sweep(text, soc, settings.is_alone ? nullptr : &peer, settings));
    logger("operator_sweep")->info("{:.2f} {}", rows.back().ratio, text);
  }
  sort(rows);
  if (flags["json"].as<bool>()) {
    print_json(rows);
  } else {
    print_table(rows);
    print_summary(rows);
  }
  const bool has_failed =
      std::ranges::any_of(rows, [](const Row& row) { return !row.failure.empty(); });
  return has_failed ? ExitCode::kFailure : ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "operator_sweep",
            .synopsis = "operator_sweep [--only=REGEX] [--threads=N] [--json] [--ours]",
            .summary = "Every operator alone, untuned, against ONNX Runtime; the slowest first.",
            .examples = "  operator_sweep --only='Reduce' --threads=2\n"};
  add_threads_flag(tool.flags, "of both; 1 when it is left out");
  tool.flags.add_options()("only", text_or("", "REGEX"), "cases whose line it matches")(
      "cases", text("FILE"), "their lines; the repository's when it is left out")(
      "rounds", number_or(3, "N"), "interleaved rounds; each times both once")(
      "seconds", po::value<double>()->default_value(0.05, "0.05")->value_name("S"),
      "least time of one turn")("ours", po::bool_switch(), "without ONNX Runtime")(
      "best", po::bool_switch(),
      "the shortest times in place of medians: of a machine that others use")(
      "soc_version", text_or("auto", "NAME"), "what ours is compiled for: auto, or as for atc")(
      "json", po::bool_switch(), "a list of objects in place of the table");
  tool.run = aoe::benchmarks::run;
  return run_tool(argc, argv, std::move(tool));
}
