// Puts the stages together: reading, preparing, tuning, writing.
#include "api/tuning_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "api/job.h"
#include "api/scratch_directory.h"
#include "api/worker_program.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stop_scope.h"
#include "base/words.h"
#include "compiler/pipeline.h"
#include "options/banks.h"
#include "runtime/om/om_tuning.h"
#include "runtime/om/step_paths.h"
#include "tuner/fleet/fleet_measurer.h"
#include "tuner/measure/machine_load.h"
#include "tuner/measure/roofs.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/result/aoe_result.h"

namespace aoe::api {
namespace fs = std::filesystem;
namespace {

void make_directory(const fs::path& directory) {
  std::error_code status;
  fs::create_directories(directory, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be created: " + status.message(), directory.string(),
                "set ASCEND_WORK_PATH to a writable place");
}

/// Noise is worth a word, but no refusal: on a build machine it may be all there is. True: there is some.
bool warn_of_load() {
  constexpr std::chrono::milliseconds kWatch(200);  // 20 ticks of the kernel's clock a core
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto used = tuner::watch_busy_cores(kWatch, cores);
  const auto warning = used ? tuner::load_warning(*used, cores) : std::nullopt;
  if (warning) logger("aoe")->warn("{}", *warning);
  return warning.has_value();
}

/// No two runs of a process have the same: it is in the names of their files.
std::string own_timestamp() {
  static std::mutex mutex;
  static std::string last;
  const std::lock_guard lock(mutex);
  std::string timestamp;
  while ((timestamp = tuner::timestamp17(std::chrono::system_clock::now())) == last)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return last = timestamp;
}

tuner::JobHeader header_of(const Settings& settings, const Subject& subject) {
  const std::string timestamp = own_timestamp();
  const fs::path result = settings.work_path / tuner::result_file_name(timestamp, ::getpid());
  return {.tuning_name = subject.name,
          .job_type = static_cast<int>(settings.job_type),
          .model = subject.digest,
          .soc_version = settings.tuning.soc.version,
          .timestamp = timestamp,
          .result = result.string()};
}

/// What the caller has given as inputs must be inputs of the model.
void check_inputs(const graph::Graph& graph, const GivenInputs& inputs) {
  for (const auto& [name, input] : inputs) {
    const auto found = std::ranges::find_if(graph.inputs, [&, &wanted = name](graph::ValueId id) {
      return graph.values[id].name == wanted;
    });
    if (found == graph.inputs.end())
      throw Error(ExitCode::kUsage, "the model has no input '" + name + "'",
                  "AoeSetTuningGraphInput()");
    const TensorDesc& desc = graph.values[*found].desc;
    if (desc.dtype != input.desc.dtype || desc.shape != input.desc.shape)
      throw Error(ExitCode::kUsage,
                  "input '" + name + "' is " + to_string(desc) + ", not " + to_string(input.desc),
                  "AoeSetTuningGraphInput()");
  }
}

/// The operators of the graph as subgraph tuning has left it; for subgraph tuning the graph itself, in float32, whatever comes
/// later. Throws Error(kInterrupted) once a stop is requested: there is nothing yet to be kept.
compiler::PreparedModel prepare(const Settings& settings, const Subject& subject,
                                const options::Banks& graph_banks) {
  const tuner::TuneOptions& tuning = settings.tuning;
  const StopScope scope(tuning.stop);
  const bool is_sgat = settings.job_type == JobType::kSubgraphs;
  if (is_sgat && subject.source.precision != compiler::Precision{})
    logger("aoe")->warn(
        "{}: subgraphs are tuned in float32, and so is the model that this run writes; job type 2 "
        "and atc apply the precision mode",
        subject.name);
  const bank::LayeredSource graph_bank = graph_banks.layered();
  compiler::Preparation how{.soc = tuning.soc,
                            .compile_threads = tuning.compile_threads,
                            .graph_bank = is_sgat ? nullptr : &graph_bank,
                            .keeps_exact = !is_sgat};
  for (const auto& [name, input] : subject.inputs)
    if (input.value) how.inputs.emplace(name, input.value);
  how.on_simplified = [&](const graph::Graph& graph) {
    check_inputs(graph, subject.inputs);
    tuner::check_filter(tuning.filter, graph, "--tune_ops_file " + settings.tune_ops_file);
  };
  compiler::PreparedModel model =
      compiler::prepare(is_sgat ? compiler::in_float32(subject.source) : subject.source, how);
  if (!model.subgraphs.empty())
    logger("aoe")->info("graph bank {}: {} subgraphs hit the bank",
                        graph_banks.location.directory.string(), model.subgraphs.size());
  return model;
}

/// Once a bank, which keeps it: reports of what is compiled with the bank then know the machine. What is left of cores that
/// others take is no roof.
void measure_machine(const Settings& settings, bank::KnowledgeBank& bank, bool is_busy) {
  if (is_busy)
    return logger("aoe")->info("this machine is busy: its roofs are left to a calmer run");
  const bank::Roofs roofs = tuner::measure_roofs(settings.tuning.soc);
  logger("aoe")->info(
      "this machine, {} threads: {:.1f} GFLOP/s in float32, {:.1f} GB/s read from memory",
      settings.tuning.soc.threads, roofs.peak_gflops, roofs.memory_gb_s);
  bank.commit({.roofs = roofs});
}

/// Of what this machine cannot run, it measures nothing itself.
bool is_host(const compiler::Soc& soc) {
  return soc.version == compiler::detect_soc(soc.threads).version;
}

/// This machine, or nodes.
std::unique_ptr<tuner::Measurer> make_measurer(const tuner::TuneOptions& tuning) {
  if (tuning.fleet != nullptr)
    return std::make_unique<tuner::FleetMeasurer>(*tuning.fleet, tuning.soc.version,
                                                  tuning.policy.measure, tuning.stop);
  const fs::path worker = worker_program();
  if (!tuning.deadline.has_passed()) tuner::check_worker(worker);
  return std::make_unique<tuner::WorkerMeasurer>(
      tuner::WorkerOptions{.soc = tuning.soc,
                           .policy = tuning.policy.measure,
                           .compile_threads = tuning.compile_threads,
                           .stop = tuning.stop,
                           .program = worker});
}

/// What runs on plain loops, and what took strategies of other shapes.
void warn_of_what_is_slow(const std::string& model, const fs::path& tuned_om) {
  const runtime::GearedOm om = runtime::GearedOm::load(tuned_om, {}, runtime::FileAs::kMapping);
  const std::string slow = runtime::reference_part(om);
  if (!slow.empty()) logger("aoe")->warn("{}: {}", model, slow);
  if (const std::size_t count = runtime::tuned_ops(om.oms.front()).near; count > 0)
    logger("aoe")->warn(compiler::kNearWarning, count);
}

/// What took the time beyond the limit.
void warn_of_late_end(const std::string& model, const tuner::Deadline& deadline, double prepare_s,
                      double compile_s) {
  constexpr double kWorthSayingSeconds = 1;
  if (deadline.late_s() < kWorthSayingSeconds) return;
  logger("aoe")->warn(
      "{}: the run ends {:.1f} s after its limit; reading and preparing the model took {:.1f} s, "
      "compiling it untuned {:.1f} s, which are not cut off: give --time_limit more, or a machine "
      "that is less busy",
      model, deadline.late_s(), prepare_s, compile_s);
}

/// A file of ours, which nobody changes meanwhile.
void copy_om(const fs::path& from, const fs::path& to) {
  write_file_atomically(to, runtime::FileInMemory(from, runtime::FileAs::kMapping).bytes());
}

/// What the run needs on disk, from its first moment to its end.
struct Workplace {
  Workplace(const Settings& settings, tuner::TuneOptions& tuning, const Subject& subject,
            std::optional<Job> resumed, const tuner::JobHeader& header)
      : job(resumed ? std::move(*resumed) : Job::create(settings.work_path, header)) {
    job.place(tuning, subject.om_suffix);
    make_directory(tuning.tuned_om_path.parent_path());
    remove_abandoned_scratch(job.workspace());
    scratch.emplace(tuning.work_directory);
  }

  Job job;
  std::optional<ScratchDirectory> scratch;
};

/// From both banks, or into the one of operators.
tuner::TuneOutcome tune(const Settings& settings, const compiler::PreparedModel& model,
                        const options::Banks& op_banks, const options::Banks& graph_banks,
                        tuner::Measurer& measurer, const tuner::TuneOptions& tuning) {
  if (settings.job_type != JobType::kSubgraphs)
    return tuner::tune_operators(model.graph, *op_banks.custom, op_banks.built_in.get(), measurer,
                                 tuning);
  const bank::LayeredSource op_strategies = op_banks.layered();
  return tuner::tune_subgraphs({.graph = model.graph,
                                .graph_bank = *graph_banks.custom,
                                .built_in = graph_banks.built_in.get(),
                                .op_strategies = &op_strategies,
                                .op_bank = op_banks.custom.get()},
                               measurer, tuning);
}

}  // namespace

RunReport tune_subject(const Settings& settings, const Subject& subject) {
  const tuner::JobHeader header = header_of(settings, subject);
  std::optional<Job> resumed =
      settings.reload ? Job::find(*settings.reload, settings.work_path, header) : std::nullopt;
  const bool is_sgat = settings.job_type == JobType::kSubgraphs;
  const std::string& soc_version = settings.tuning.soc.version;
  const auto open = [&](bank::BankKind kind) {
    return options::open_banks(kind, bank::BankUse::kTune, soc_version);
  };
  const options::Banks op_banks = open(bank::BankKind::kOp);
  const options::Banks graph_banks = open(bank::BankKind::kGraph);
  const tuner::TimePoint start = std::chrono::steady_clock::now();
  const compiler::PreparedModel model = prepare(settings, subject, graph_banks);
  const double prepare_s = tuner::seconds_between(start, std::chrono::steady_clock::now());

  tuner::TuneOptions tuning = settings.tuning;
  tuning.gears = model.gears;
  tuning.subgraphs = model.subgraphs;
  const bool is_of_host = tuning.fleet == nullptr || is_host(tuning.soc);
  if (model.exact && is_of_host) tuning.full_precision = &*model.exact;
  tuning.tuning_name = subject.name;

  op_banks.custom->require_writable();
  if (is_sgat) graph_banks.custom->require_writable();  // which keeps operators as well
  const std::unique_ptr<tuner::Measurer> measurer = make_measurer(tuning);
  const bool measures_here = tuning.fleet == nullptr && !tuning.deadline.has_passed();
  const Workplace place(settings, tuning, subject, std::move(resumed), header);
  if (measures_here && !op_banks.custom->roofs())
    measure_machine(settings, *op_banks.custom, warn_of_load());
  else if (measures_here)
    tuning.before_measuring = [] { warn_of_load(); };
  const options::NearBanks near(op_banks);
  if (settings.takes_near) tuning.near = &near;
  RunReport report{.tuning_name = subject.name,
                   .gears = tuning.gears,
                   .result_path = tuning.result_path,
                   .bank_directory = (is_sgat ? graph_banks : op_banks).custom->directory()};
  report.outcome = tune(settings, model, op_banks, graph_banks, *measurer, tuning);
  if (!report.outcome.om_written) return report;
  report.om_path = tuning.tuned_om_path;
  if (is_of_host) warn_of_what_is_slow(subject.name, tuning.tuned_om_path);
  if (!subject.output.empty()) {
    copy_om(tuning.tuned_om_path, subject.output);
    report.output_path = subject.output;
  }
  warn_of_late_end(subject.name, tuning.deadline, prepare_s, report.outcome.used.compile_s);
  return report;
}

Error bank_error(const std::vector<tuner::RescuedBank>& rescued, const std::string& soc_version) {
  const std::string commands = joined(rescued, " && ", [&](const tuner::RescuedBank& each) {
    return "aoe_bank import " + each.file.string() + " --soc_version=" + soc_version;
  });
  return Error(ExitCode::kBank, rescued.front().cause + "; the model and the result are written",
               {}, "when the bank works again: " + commands);
}

}  // namespace aoe::api
