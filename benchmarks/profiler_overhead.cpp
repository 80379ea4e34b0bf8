// What profiling costs: models executed through the C API without and with a collection, interleaved, and an event alone.
//
//   profiler_overhead [--rounds=N] [--threads=N] [--seconds=S] MODEL.om ...
//
// Off and on alternate within each round, so that both see the same machine; the figure is the median of all executions.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "base/temporary_directory.h"
#include "profiler/recorder.h"
#include "tools/aoe_run/session.h"
#include "tools/aoe_run/tensors.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;

/// A session of the C API; `config` nullptr: without a collection.
std::vector<double> latencies_us(const std::string& model, const char* config, double seconds) {
  const AscendCl library(config);
  Session session(library, model);
  const std::vector<ConstantPtr> inputs =
      fill_up(read_inputs(session.inputs(), {}), session.inputs());
  for (std::size_t i = 0; i < inputs.size(); ++i) session.set_input(i, inputs[i]->view());
  session.run();  // touches all memory
  std::vector<double> latencies;
  for (double sum_us = 0; sum_us < seconds * 1e6; sum_us += latencies.back()) {
    const std::uint64_t begin = profiler::now_ticks();
    session.run();
    latencies.push_back(profiler::to_ns(profiler::now_ticks() - begin) / 1e3);
  }
  return latencies;
}

void compare(const std::string& model, const std::string& config, int rounds, double seconds) {
  std::vector<double> off;
  std::vector<double> on;
  const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  for (int round = 0; round < rounds; ++round) {
    append(off, latencies_us(model, nullptr, seconds));
    append(on, latencies_us(model, config.c_str(), seconds));
    append(on, latencies_us(model, config.c_str(), seconds));
    append(off, latencies_us(model, nullptr, seconds));
  }
  const double off_us = median(off);
  const double on_us = median(on);
  fmt::print("{:<24} off {:9.2f} us  on {:9.2f} us  overhead {:6.2f} %  ({} + {} executions)\n",
             fs::path(model).stem().string(), off_us, on_us, 100 * (on_us / off_us - 1), off.size(),
             on.size());
}

/// Median cost of what `event` does, over batches that a ring holds.
template <typename Body>
double event_ns(Body&& event) {
  constexpr int kBatches = 201;
  constexpr int kEvents = 10'000;
  std::vector<double> costs;
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::uint64_t begin = profiler::now_ticks();
    for (int i = 0; i < kEvents; ++i) event(i);
    costs.push_back(profiler::to_ns(profiler::now_ticks() - begin) / kEvents);
    profiler::drain_in_place([](const profiler::ThreadEvents&) {});
  }
  return median(costs);
}

void measure_events() {
  const std::uint32_t name = profiler::intern("event");
  const auto task = [&](int i) {  // as the executor records them: one reading of the clock a task
    profiler::record(profiler::EventKind::kTask, name, 0, profiler::now_ticks(),
                     static_cast<std::uint64_t>(i));
  };
  const auto span = [&](int) { const profiler::Span one(profiler::EventKind::kApi, name); };
  const double off_ns = event_ns(span);
  profiler::start();
  const double task_ns = event_ns(task);
  const double span_ns = event_ns(span);
  profiler::stop();
  fmt::print("event: task {:.1f} ns, span (two readings of the clock) {:.1f} ns, off {:.2f} ns\n",
             task_ns, span_ns, off_ns);
}

ExitCode run(const po::variables_map& flags) {
  if (const int threads = threads_of(flags); threads > 0)
    ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  measure_events();
  const TemporaryDirectory directory("profiler_overhead");
  const fs::path config = directory.path() / "acl.json";
  std::ofstream(config)
      << R"({"profiler": {"switch": "on", "ascendcl": "on", "task_time": "on", "output": ")"
      << directory.path().string() << R"("}})";
  for (const std::string& model : flags["model"].as<std::vector<std::string>>())
    compare(model, config.string(), flags["rounds"].as<int>(), flags["seconds"].as<double>());
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "profiler_overhead",
            .synopsis = "profiler_overhead [flags] MODEL.om ...",
            .summary = "What profiling costs: task and API events on against off."};
  auto add = tool.flags.add_options();
  add("model", po::value<std::vector<std::string>>()->required(), "oms");
  add("rounds", number_or(40, "N"), "off, on, on, off in each");
  add("seconds", po::value<double>()->default_value(0.1, "0.1")->value_name("S"), "of each");
  add_threads_flag(tool.flags, "of the models");
  tool.positional.add("model", -1);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
