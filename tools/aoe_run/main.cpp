// aoe_run: runs an om from the shell, through the same C API as any other program, and says how long it takes.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "profiler/collect/options.h"
#include "profiler/collect/profiling_options.h"
#include "profiler/recorder.h"
#include "runtime/npy.h"
#include "runtime/om/geared_om.h"
#include "tools/aoe_run/gear_choice.h"
#include "tools/aoe_run/profile_table.h"
#include "tools/aoe_run/run_report.h"
#include "tools/aoe_run/session.h"
#include "tools/aoe_run/streams.h"
#include "tools/aoe_run/tensors.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::string gear;        ///< empty: the first that the inputs fit
  std::string output_dir;  ///< empty: outputs are not written
  std::string reference;   ///< empty: outputs are not compared
  double tolerance = 0;
  std::optional<std::int64_t> batch;
  int streams = 1;
  RunPlan plan;
  bool profile = false;
  bool json = false;
};

void read_plan(const po::variables_map& flags, RunPlan& plan) {
  plan.warmup = flags["warmup"].as<int>();
  if (plan.warmup < 0) reject("--warmup", "must be at least 0");
  if (flags.contains("repeat")) plan.repeat = flags["repeat"].as<int>();
  if (plan.repeat < 1) reject("--repeat", "must be at least 1");
  if (!flags.contains("seconds")) return;
  plan.seconds = flags["seconds"].as<double>();
  if (!(plan.seconds > 0)) reject("--seconds", "must be more than 0");
}

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
  read_plan(flags, options.plan);
  options.reference = text_of(flags, "reference");
  options.tolerance = flags["tolerance"].as<double>();
  if (!(options.tolerance >= 0)) reject("--tolerance", "must be at least 0");
  if (!flags["tolerance"].defaulted() && options.reference.empty())
    reject("--tolerance", "is of --reference, which is not given", "name what to compare with");
  options.json = flags.contains("json");
  constexpr int kMostStreams = 1024;
  options.streams = *number_of(flags, "streams", 1, kMostStreams);
  if (options.streams > 1 && options.profile)
    reject("--profile", "is of one stream", "leave out --streams");
  if (flags.contains("batch")) options.batch = flags["batch"].as<std::int64_t>();
  if (options.batch && *options.batch < 1) reject("--batch", "must be at least 1");
  if (options.batch && !options.gear.empty())
    reject("--batch", "and --gear exclude each other", "give one of them");
  // AscendCL has no functions for these: the library reads the variables when it loads a model.
  if (flags.contains("om_key")) {
    runtime::OmKeys::read(
        text_of(flags, "om_key"));  // what is wrong with it, in this program's words
    ::setenv(runtime::kOmKeyVariable, text_of(flags, "om_key").c_str(), 1);
  }
  if (flags.contains("share_weights")) ::setenv(runtime::kShareWeightsVariable, "1", 1);
  if (const int threads = threads_of(flags); threads > 0)
    ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  return options;
}

/// The gear to run in, selected; 0 where the model has none.
std::size_t select_gear(Session& session, const Options& options,
                        const std::vector<std::optional<Constant>>& given) {
  if (session.gears().empty()) {
    if (!options.gear.empty())
      throw Error(ExitCode::kUsage, "the model has no gears", "--gear", "leave it out");
    return 0;
  }
  const bool is_by_batch = options.batch && session.gears().front().kind == GearKind::kBatch;
  const std::string wanted = is_by_batch ? std::to_string(*options.batch) : options.gear;
  const std::size_t gear = choose_gear(session.gears(), session.inputs(), given, wanted);
  session.select_gear(gear);
  return gear;
}

/// --batch says what the model does, chooses among its gears, or is an open size.
void check_batch(const std::vector<ConstantPtr>& inputs, const Options& options) {
  if (!options.batch) return;
  for (const ConstantPtr& input : inputs)
    if (!input->desc().shape.empty() && input->desc().shape.front() == *options.batch) return;
  throw Error(
      ExitCode::kUsage,
      "no input of the model has " + std::to_string(*options.batch) + " as its first dimension",
      "--batch", "compile it for that batch size, or with --dynamic_batch_size");
}

/// One for each stream, all in the same gear with the same inputs.
class Streams {
 public:
  explicit Streams(const Options& options) {
    for (int i = 0; i < options.streams; ++i)
      sessions_.push_back(std::make_unique<Session>(library_, options.model));
    std::vector<std::optional<Constant>> given = read_inputs(first().inputs(), options.inputs);
    gear_ = select_gear(first(), options, given);
    inputs_ = fill_up(std::move(given), first().inputs(), options.batch.value_or(1));
    check_batch(inputs_, options);
    for (const auto& session : sessions_) {
      if (!session->gears().empty()) session->select_gear(gear_);
      for (std::size_t i = 0; i < inputs_.size(); ++i) session->set_input(i, inputs_[i]->view());
    }
  }

  Session& first() { return *sessions_.front(); }
  std::size_t gear() const { return gear_; }
  std::vector<Session*> all() const {
    std::vector<Session*> all;
    for (const auto& session : sessions_) all.push_back(session.get());
    return all;
  }

 private:
  const AscendCl library_;
  std::vector<ConstantPtr> inputs_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::size_t gear_ = 0;
};

/// With the times of each op, for which the library's recorder runs.
void run_with_profile(Streams& streams, const RunPlan& plan, RunReport& report) {
  StepTimes step_times(streams.first().oms(), streams.gear());
  report.times = run_streams(
      streams.all(), plan, [] { profiler::start(); },
      [&] { step_times.add_run(profiler::drain()); });
  profiler::stop();  // else it is msprof's, which goes on to the end
  if (const std::uint64_t lost = profiler::lost_events(); lost > 0)
    logger("aoe_run")->warn(
        "{} events were lost: a run has more than {} ops on one thread, not all of them are in the "
        "table",
        lost, profiler::kRingEvents);
  report.ops = step_times.ops();
}

ExitCode run(const po::variables_map& flags) {
  const Options options = options_from(flags);
  Streams streams(options);
  Session& first = streams.first();
  const runtime::Om& om = *first.oms().front();
  RunReport report{.model = options.model,
                   .soc_version = om.soc_version,
                   .streams = static_cast<std::size_t>(options.streams),
                   .warmup = options.plan.warmup,
                   .batch = options.batch,
                   .peak_gflops = om.peak_gflops,
                   .memory_gb_s = om.memory_gb_s,
                   .tolerance = options.tolerance};
  std::vector<std::filesystem::path> paths;
  if (!options.output_dir.empty()) paths = output_paths(first.outputs(), options.output_dir);

  if (!first.gears().empty()) report.gear = gear_text(first.gears()[streams.gear()].sizes);
  if (options.profile)
    run_with_profile(streams, options.plan, report);
  else
    report.times = run_streams(streams.all(), options.plan, {}, {});

  for (std::size_t i = 0; i < paths.size(); ++i) runtime::write_npy(paths[i], first.output(i));
  if (!options.reference.empty())
    report.differences = compare_with(options.reference, first, options.tolerance);
  options.json ? print_json(std::cout, report) : print_text(std::cout, report);
  return report.is_as_expected() ? ExitCode::kSuccess : ExitCode::kOutputsDiffer;
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
       "bytes of any value, other integers 0 or 1")  //
      ("gear", text("SIZES"),
       "of a model with dynamic gears: \"4\", \"320,240\"; default: the first that fits the "
       "inputs")("output-dir", text("DIR"),
                 "write each output to DIR/NAME.npy, '/' and ':' in names as '_'")(
          "repeat", po::value<int>()->value_name("N"),
          "runs of each stream that count (default 10)")(
          "seconds", po::value<double>()->value_name("S"), "run for that long instead")(
          "warmup", number_or(1, "N"), "runs before, which do not count")(
          "streams", number_or(1, "N"),
          "requests at once, each by a thread with a load of the model of its own")(
          "batch", po::value<std::int64_t>()->value_name("N"),
          "samples in a run: throughput counts them, and a model with batch gears or an open first "
          "size runs with so many")(
          "reference", text("DIR"),
          "compare each output with DIR/NAME.npy; exit code 8 when one differs")(
          "tolerance", po::value<double>()->default_value(1e-3, "0.001")->value_name("SHARE"),
          "of --reference: largest difference of floating-point outputs, as a share of their "
          "range")("om_key", text("FILE.pub"),
                   "load the model only if this key signed it (aoe_sign)")(
          "share_weights",
          "map the model: processes and streams that run it share the memory of its weights")(
          "json", "print what is measured as JSON")(
          "profile", "print a table of the model's ops and their median times, the slowest first");
  add_threads_flag(
      tool.flags,
      "threads to run on; default: OMP_NUM_THREADS, or what the model was compiled for");
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
