// aoe_run: runs an om from the shell, through the same C API as any other program, and says how long it takes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "profiler/collect/options.h"
#include "profiler/collect/profiling_options.h"
#include "profiler/recorder.h"
#include "runtime/geared_om.h"
#include "runtime/npy.h"
#include "tools/aoe_run/gear_choice.h"
#include "tools/aoe_run/profile_table.h"
#include "tools/aoe_run/session.h"
#include "tools/aoe_run/tensors.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

constexpr int kDefaultRepeat = 10;

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::string gear;        ///< empty: the first that the inputs fit
  std::string output_dir;  ///< empty: outputs are not written
  int repeat = kDefaultRepeat;
  double seconds = 0;  ///< > 0: instead of `repeat`
  bool profile = false;
};

Options options_from(const po::variables_map& flags) {
  Options options;
  options.model = flags["model"].as<std::string>();
  if (flags.contains("input")) options.inputs = flags["input"].as<std::vector<std::string>>();
  options.gear = text_of(flags, "gear");
  options.output_dir = text_of(flags, "output-dir");
  options.profile = flags.contains("profile");
  if (options.profile && std::getenv(profiler::kOptionsVariable) != nullptr)
    throw Error(ExitCode::kUsage, "msprof collects already", "--profile",
                "do without one of them: both empty the same recorder");
  if (options.profile && profiler::profiling_mode() == profiler::ProfilingMode::kOn)
    throw Error(ExitCode::kUsage, "PROFILING_MODE=true collects already", "--profile",
                "do without one of them: both empty the same recorder");
  if (flags.contains("repeat") && flags.contains("seconds"))
    throw Error(ExitCode::kUsage, "--repeat and --seconds exclude each other", {},
                "give one of them");
  if (flags.contains("repeat")) options.repeat = flags["repeat"].as<int>();
  if (options.repeat < 1) throw Error(ExitCode::kUsage, "must be at least 1", "--repeat");
  if (flags.contains("seconds")) {
    options.seconds = flags["seconds"].as<double>();
    if (!(options.seconds > 0)) throw Error(ExitCode::kUsage, "must be more than 0", "--seconds");
  }
  // AscendCL has no function for it: the library reads the variable when it loads a model.
  if (const int threads = threads_of(flags); threads > 0)
    ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  return options;
}

double run_once_ns(Session& session) {
  const std::uint64_t begin = profiler::now_ticks();
  session.run();
  return profiler::to_ns(profiler::now_ticks() - begin);
}

/// The latency of each run. The first, which touches all memory for the first time, does not count.
std::vector<double> run_repeatedly(Session& session, const Options& options,
                                   StepTimes* step_times) {
  session.run();
  if (step_times != nullptr) profiler::start();
  std::vector<double> latencies_ns;
  double sum_ns = 0;
  const auto is_enough = [&] {
    return options.seconds > 0 ? sum_ns >= options.seconds * 1e9
                               : latencies_ns.size() >= static_cast<std::size_t>(options.repeat);
  };
  do {
    latencies_ns.push_back(run_once_ns(session));
    sum_ns += latencies_ns.back();
    if (step_times == nullptr) continue;
    step_times->add(profiler::drain());
    step_times->count_run();
  } while (!is_enough());
  if (step_times != nullptr) profiler::stop();  // else it is msprof's, which goes on to the end
  return latencies_ns;
}

void print_latency(std::vector<double> latencies_ns) {
  std::sort(latencies_ns.begin(), latencies_ns.end());
  const std::size_t count = latencies_ns.size();
  const double median_ns = (latencies_ns[count / 2] + latencies_ns[(count - 1) / 2]) / 2;
  std::cout << fmt::format("latency_ms median={:.3f} min={:.3f} max={:.3f} repeat={}\n",
                           median_ns / 1e6, latencies_ns.front() / 1e6, latencies_ns.back() / 1e6,
                           count);
}

ExitCode run(const po::variables_map& flags) {
  const Options options = options_from(flags);
  Session session(options.model);
  std::vector<std::optional<Constant>> given = read_inputs(session.inputs(), options.inputs);
  std::size_t gear = 0;
  if (!session.gears().empty()) {
    gear = choose_gear(session.gears(), session.inputs(), given, options.gear);
    session.select_gear(gear);
  } else if (!options.gear.empty()) {
    throw Error(ExitCode::kUsage, "the model has no gears", "--gear", "leave it out");
  }
  const std::vector<Constant> inputs = fill_up(std::move(given), session.inputs());
  for (std::size_t i = 0; i < inputs.size(); ++i) session.set_input(i, inputs[i].view());
  std::vector<std::filesystem::path> paths;
  if (!options.output_dir.empty()) paths = output_paths(session.outputs(), options.output_dir);

  std::optional<runtime::GearedOm> om;  // for the names in the table; the session has its own
  std::optional<StepTimes> step_times;
  if (options.profile) step_times.emplace(om.emplace(runtime::GearedOm::load(options.model)), gear);
  const std::vector<double> latencies_ns =
      run_repeatedly(session, options, step_times ? &*step_times : nullptr);

  for (std::size_t i = 0; i < paths.size(); ++i) runtime::write_npy(paths[i], session.output(i));
  if (step_times) step_times->print(std::cout);
  print_latency(latencies_ns);
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "aoe_run",
            .synopsis = "aoe_run --model=M.om [flags]",
            .summary =
                "Runs an offline model on this machine and prints its latency as the last line of "
                "stdout:\n"
                "latency_ms median=... min=... max=... repeat=...",
            .examples =
                "  aoe_run --model=resnet50.om --seconds=3 --threads=2\n"
                "  aoe_run --model=resnet50.om --input=data=cat.npy --output-dir=out\n"
                "  aoe_run --model=resnet50.om --repeat=50 --profile\n"};
  tool.flags.add_options()                                                        //
      ("model,m", text("M.om")->required(), "the model, as atc or aoe wrote it")  //
      ("input", po::value<std::vector<std::string>>()->value_name("NAME=FILE.npy"),
       "an input tensor; may be given once for each input. Others are random, always the same: "
       "floats in [0, 1), "
       "integers 0 or 1")  //
      ("gear", text("SIZES"),
       "of a model with dynamic gears: \"4\", \"320,240\"; default: the first that fits the "
       "inputs")("output-dir", text("DIR"),
                 "write each output to DIR/NAME.npy, '/' and ':' in names as '_'")(
          "repeat", po::value<int>()->value_name("N"),
          "runs that count, after one that does not (default 10)")(
          "seconds", po::value<double>()->value_name("S"), "run for that long instead")(
          "profile", "print a table of the model's ops and their times, the slowest first");
  add_threads_flag(
      tool.flags,
      "threads to run on; default: OMP_NUM_THREADS, or what the model was compiled for");
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
