// A thread for each model at work; the fleet lets one of them run at a time.
#include "api/models_on_nodes.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "base/ceil_div.h"
#include "base/log.h"
#include "options/data_dirs.h"
#include "tuner/fleet/fleet.h"

namespace aoe::api {
namespace fs = std::filesystem;
namespace {

/// Models whose weights are in memory at once; tasks of so many keep many nodes busy.
constexpr std::size_t kModelsAtOnce = 16;
/// Nodes that come later get work of the kinds that are there by then, and no other.
constexpr double kSettleSeconds = 30;

tuner::Spool spool_in(const fs::path& work_path) {
  const std::string name = "fleet_" + tuner::timestamp17(std::chrono::system_clock::now()) + "_" +
                           std::to_string(::getpid());
  return {fs::absolute(work_path / "aoe_workspace" / name)};
}

tuner::NodeCommand node_command(const Settings& settings) {
  constexpr const char* kProgram = "bin/aoe";
  const fs::path program = options::installed_path(kProgram);
  if (program.empty())
    throw Error(ExitCode::kFailure, "the program that nodes run is not installed", kProgram,
                "install aoe again");
  return {.program = program, .threads = settings.node_threads};
}

/// One output for each kind.
fs::path of_kind(const fs::path& output, const std::string& soc_version) {
  if (output.empty()) return output;
  return output.parent_path() /
         (output.stem().string() + "_" + soc_version + output.extension().string());
}

}  // namespace

/// Searches go side by side; models are confirmed one after the other, in the second half of the time.
tuner::Deadline ModelsOnNodes::deadline_of(std::size_t index) const {
  const double place = static_cast<double>(index + 1) / static_cast<double>(subjects_.size());
  return tuner::Deadline::in(end_.left_s() * (1 + place) / 2);
}

std::vector<ModelsOnNodes::Work> ModelsOnNodes::work_on(tuner::Fleet& fleet,
                                                        const std::vector<compiler::Soc>& kinds) {
  const auto models = static_cast<std::int64_t>(subjects_.size());
  std::vector<Work> list;
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    for (const compiler::Soc& kind : kinds) {
      Work& work = list.emplace_back(Work{settings_, subjects_[i]});
      if (kinds.size() > 1) {
        work.subject.output = of_kind(work.subject.output, kind.version);
        work.subject.variant = " for " + kind.version;
      }
      tuner::TuneOptions& tuning = work.settings.tuning;
      tuning.soc = kind;
      tuning.stop = stop_;
      tuning.deadline = deadline_of(i);
      tuning.begin = begin_;
      tuning.fleet = &fleet;
      tuning.fleet_index = static_cast<int>(i);
      tuning.max_trials = ceil_div(settings_.max_trials, models);
      tuning.searched = &searched_[kind.version];
    }
  return list;
}

void ModelsOnNodes::run(const TuneOne& tune_one) {
  tuner::Fleet fleet(
      spool_in(settings_.work_path),
      tuner::make_launcher(settings_.workers, settings_.slurm_args, node_command(settings_)));
  std::vector<Work> list;
  std::exception_ptr failure;
  std::size_t at_work = 0;
  bool goes_on = true;
  const auto tune = [&](const Work& work) {
    const std::lock_guard turn(fleet);
    try {
      goes_on &= tune_one(work.settings, work.subject);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    fleet.note_ended({work.settings.tuning.soc.version, work.settings.tuning.fleet_index});
    --at_work;
  };
  {
    std::vector<std::jthread> threads;  // joined when the turn is theirs
    const std::lock_guard turn(fleet);
    const std::vector<compiler::Soc> kinds = fleet.wait_for_kinds(kSettleSeconds, stop_);
    list = work_on(fleet, kinds);
    for (const Work& work : list) {
      if (!fleet.wait_until([&] { return at_work < kModelsAtOnce; }, stop_)) break;
      if (!goes_on || failure) break;
      ++at_work;
      threads.emplace_back(tune, std::cref(work));
    }
  }
  if (failure) std::rethrow_exception(failure);
  const tuner::DispatchCounts counts = fleet.counts();
  logger("fleet")->info("answers={} repeated={} lost_nodes={} stale={}", counts.answers,
                        counts.repeated, counts.lost_nodes, counts.stale);
}

}  // namespace aoe::api
