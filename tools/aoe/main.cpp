// aoe: tunes the subgraphs or the operators of ONNX models on this machine, with the library (aoe/aoe.h).
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "aoe/aoe.h"
#include "api/settings.h"
#include "api/wall.h"
#include "options/data_dirs.h"
#include "tools/aoe/progress.h"
#include "tools/aoe/progress_json.h"
#include "tools/aoe/report.h"
#include "tools/aoe/serve.h"
#include "tools/common/flags.h"
#include "tools/common/stop_signals.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

void check(AoeStatus status) {
  if (const ExitCode code = api::exit_code_of(status); code != ExitCode::kSuccess)
    throw Error(code, AoeGetLastError());
}

/// Every flag that was given is an option of the library, but those that are about the program.
class Options {
 public:
  explicit Options(const po::variables_map& flags) {
    for (const auto& [name, value] : flags)
      if (!value.defaulted() && name != "progress_bar" && name != "log")
        texts_.emplace_back(name, value_text(value));
    for (const auto& [name, text] : texts_) rows_.push_back({name.c_str(), text.c_str()});
  }
  const AoeOption* data() const { return rows_.data(); }
  std::size_t size() const { return rows_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<AoeOption> rows_;
};

enum class ProgressForm { kOff, kTerminal, kJson };

ProgressForm progress_form(const po::variables_map& flags) {
  const std::string value = text_of(flags, "progress_bar");
  if (value == "off") return ProgressForm::kOff;
  if (value == "on") return ProgressForm::kTerminal;
  if (value == "json") return ProgressForm::kJson;
  reject("--progress_bar", "'" + value + "' is neither on, off nor json");
}

/// A session of the library, with progress on stderr and signals that stop it.
class Run {
 public:
  explicit Run(ProgressForm progress) : progress_(progress) {
    check(AoeInitialize(nullptr, 0));
    check(AoeCreateSession(&session_));
    check(AoeSetProgressCallback(session_, on_progress, this));
  }
  ~Run() {
    AoeDestroySession(session_);
    AoeFinalize();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  AoeStatus tune(const Options& options) {
    const std::stop_callback stopper(signals_.token(), [this] { AoeStopTuning(session_); });
    std::optional<ProgressDisplay> display;
    if (progress_ == ProgressForm::kTerminal) display_ = &display.emplace();
    const AoeStatus status = AoeTuningGraph(session_, options.data(), options.size());
    display_ = nullptr;
    return status;
  }

  bool is_stopped() const { return signals_.token().stop_requested(); }

  std::vector<const AoeTuningResult*> results() const {
    std::size_t count = 0;
    check(AoeGetTuningResultCount(session_, &count));
    std::vector<const AoeTuningResult*> results(count);
    for (std::size_t i = 0; i < count; ++i) check(AoeGetTuningResult(session_, i, &results[i]));
    return results;
  }

 private:
  static void on_progress(uint64_t session, const AoeProgress* progress, void* user) {
    const auto* const run = static_cast<Run*>(user);
    if (run->display_ != nullptr) run->display_->show(Progress(*progress));
    if (run->progress_ == ProgressForm::kJson)
      std::fputs((progress_json(*progress) + "\n").c_str(), stderr);
    if (run->signals_.token().stop_requested()) AoeStopTuning(session);  // came before the run did
  }

  const StopSignals signals_;  // before any thread of the library
  const ProgressForm progress_;
  std::uint64_t session_ = 0;
  ProgressDisplay* display_ = nullptr;
};

ExitCode tune(const po::variables_map& flags) {
  Run run(progress_form(flags));
  const AoeStatus status = run.tune(Options(flags));
  const std::string error = AoeGetLastError();
  const std::vector<const AoeTuningResult*> results = run.results();
  for (const AoeTuningResult* result : results) print_report(std::cout, *result);
  if (results.size() > 1) print_summary(std::cout, results);
  if (status == AOE_FAILURE) {
    const bool is_stopped = run.is_stopped();
    if (results.empty()) std::cerr << "aoe: " << error << '\n';
    return is_stopped ? ExitCode::kInterrupted : ExitCode::kFailure;
  }
  if (api::exit_code_of(status) != ExitCode::kSuccess)
    throw Error(api::exit_code_of(status), error);
  return ExitCode::kSuccess;
}

/// `aoe report FILES` is a program of its own, a script beside this one. Returns when it cannot be started.
int start_report(char** arguments) {
  const std::string program = options::this_program().parent_path() / "aoe_report";
  arguments[0] = const_cast<char*>(program.c_str());
  ::execv(program.c_str(), arguments);
  std::cerr << "aoe: error: " << program
            << ": cannot be started; it is installed with aoe, and needs python3\n";
  return static_cast<int>(ExitCode::kFailure);
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  if (argc > 1 && std::string_view(argv[1]) == "report") return start_report(argv + 1);
  if (argc > 1 && std::string_view(argv[1]) == "serve_tasks")
    return run_serve_tasks(argc - 1, argv + 1);
  Tool tool;
  tool.name = "aoe";
  tool.synopsis = "aoe --job_type=1|2 --framework=5 --model=M.onnx [flags]";
  tool.summary =
      "Tunes the subgraphs (1) or operators (2) of a model by measuring on this machine, keeps "
      "the winning strategies in the knowledge bank, and writes the tuned model and a result file.";
  tool.examples =
      "  aoe --job_type=1 --framework=5 --model=resnet50.onnx\n"
      "  aoe --job_type=2 --framework=5 --model=resnet50.onnx\n"
      "  aoe -j 2 -f 5 -m bert.onnx --input_shape=\"input_ids:1,128\" --output=bert_tuned\n"
      "  aoe -j 2 -m m.onnx --input_shape=\"x:-1,3,224,224\" --dynamic_batch_size=\"1,4\"\n"
      "  aoe -j 2 --model_path=models --output=oms\n"
      "  aoe -j 2 --models=models.txt --time_limit=3600 --result=fleet.json\n"
      "  aoe -j 2 --models=models.txt --workers=ssh:big1,big2\n"
      "  aoe -j 2 --singleop=ops.json\n"
      "  aoe report result.json --output=report.html\n"
      "  REPEAT_TUNE=True aoe -j 2 -m resnet50.onnx --time_limit=120\n\n"
      "Variables: TUNE_BANK_PATH and ASCEND_CACHE_PATH (bank), ASCEND_WORK_PATH\n"
      "  (files), REPEAT_TUNE, TE_PARALLEL_COMPILER (compile threads), OMP_NUM_THREADS,\n"
      "  AOE_MODE (job type), ASCEND_DEVICE_ID (0), AOE_WORKER (the program that\n"
      "  measures), AOE_CONFIG_DIR, NO_COLOR\n";
  aoe::api::add_flags(tool.flags);
  tool.flags.add_options()("progress_bar", text_or("on", "on|off|json"),
                           "progress on the terminal, or on stderr a line of JSON for each report");
  tool.first_words = {"report", "serve_tasks"};
  tool.run = tune;
  tool.ends_on_signals = false;
  return run_tool(argc, argv, std::move(tool));
}
