// load_bench: from a file to the first result. `atc` as a process, then `aoe_run` as a process that loads the om, runs it
// once and ends, against ONNX Runtime's session creation and first run in a Node.js process that has loaded its library
// already; interleaved, medians. Prints a Markdown table.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/temporary_directory.h"
#include "benchmarks/model_inputs.h"
#include "compiler/pipeline.h"
#include "tools/common/tool.h"

namespace aoe::benchmarks {
namespace {
namespace fs = std::filesystem;
namespace po = boost::program_options;

struct Settings {
  std::vector<std::string> models;
  int threads = 2;
  int rounds = 5;
  std::string feed;
};

double milliseconds(const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// A program that lies beside this one, from its start to its end; throws Error(kFailure) when it fails.
double program_ms(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string path = fs::read_symlink("/proc/self/exe").replace_filename(name).string();
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int status = -1;
  const double ms = milliseconds([&] {
    pid_t process = -1;
    if (::posix_spawn(&process, path.c_str(), &actions, nullptr, argv.data(), environ) == 0)
      ::waitpid(process, &status, 0);
  });
  posix_spawn_file_actions_destroy(&actions);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(ExitCode::kFailure, "failed or does not start", path);
  return ms;
}

struct Row {
  std::string model;
  std::uintmax_t om_bytes = 0;
  std::vector<double> peer_ms, copied_ms, mapped_ms, atc_ms;
};

std::vector<NamedTensor> inputs_of_model(const std::string& path, const Settings& settings) {
  const compiler::Soc soc = compiler::detect_soc(settings.threads);
  const compiler::PreparedModel model = compiler::prepare({.path = path}, {.soc = soc});
  return inputs_of({compiler::compile(model, {.soc = soc}), model.graph.name, soc.threads},
                   settings.feed);
}

/// In a process that has ended when this returns: its threads would spin beside what is measured next.
double peer_load_and_run_ms(const std::string& path, const std::vector<NamedTensor>& inputs,
                            const Settings& settings, const fs::path& scratch) {
  OnnxRuntimePeer peer(AOE_BENCHMARKS_DIR "/onnxruntime/server.js");
  peer.wait_until_ready();
  const double load_ms = milliseconds([&] { peer.load(path, settings.threads); });
  peer.feed(inputs, scratch);
  return load_ms + peer.run(0, 1).front();
}

Row measure(const std::string& path, const Settings& settings, const fs::path& scratch) {
  Row row{.model = fs::path(path).stem().string()};
  const std::string om = (scratch / row.model).string() + ".om";
  const std::vector<NamedTensor> inputs = inputs_of_model(path, settings);
  const std::vector<std::string> run = {"--model=" + om, "--repeat=1", "--warmup=0",
                                        "--threads=" + std::to_string(settings.threads)};
  std::vector<std::string> run_mapped = run;
  run_mapped.push_back("--share_weights");
  for (int round = -1; round < settings.rounds; ++round) {
    const double atc_ms = program_ms("atc", {"--model=" + path, "--output=" + om, "--log=error"});
    const double peer_ms = peer_load_and_run_ms(path, inputs, settings, scratch);
    const double copied_ms = program_ms("aoe_run", run);
    const double mapped_ms = program_ms("aoe_run", run_mapped);
    if (round < 0) continue;  // files come into the page cache
    row.atc_ms.push_back(atc_ms);
    row.peer_ms.push_back(peer_ms);
    row.copied_ms.push_back(copied_ms);
    row.mapped_ms.push_back(mapped_ms);
  }
  row.om_bytes = fs::file_size(om);
  return row;
}

ExitCode run(const Settings& settings) {
  const TemporaryDirectory scratch("aoe_load");
  std::printf(
      "| model | om MB | atc ms | ONNX Runtime: session and first run ms | aoe_run ms | of that | "
      "aoe_run --share_weights ms | of that |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  double log_copied = 0, log_mapped = 0;
  for (const std::string& model : settings.models) {
    const Row row = measure(model, settings, scratch.path());
    const double peer = median(row.peer_ms), copied = median(row.copied_ms),
                 mapped = median(row.mapped_ms);
    std::printf("| %s | %.1f | %.0f | %.0f | %.0f | %.2f | %.0f | %.2f |\n", row.model.c_str(),
                static_cast<double>(row.om_bytes) * 1e-6, median(row.atc_ms), peer, copied,
                copied / peer, mapped, mapped / peer);
    std::fflush(stdout);
    log_copied += std::log(copied / peer);
    log_mapped += std::log(mapped / peer);
  }
  const auto count = static_cast<double>(settings.models.size());
  std::printf("\ngeometric mean: %.2f, with --share_weights %.2f\n", std::exp(log_copied / count),
              std::exp(log_mapped / count));
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::benchmarks;
  Settings settings;
  aoe::tools::Tool tool{.name = "load_bench",
                        .synopsis = "load_bench [flags] MODEL.onnx ...",
                        .summary = "From a file to the first result, against ONNX Runtime."};
  tool.flags.add_options()("threads", po::value(&settings.threads)->default_value(2),
                           "threads of both")("rounds",
                                              po::value(&settings.rounds)->default_value(5),
                                              "interleaved rounds, of new processes each")(
      "feed", po::value(&settings.feed),
      "\"sr:16000\": the numbers of an input of ONNX Runtime's, instead of random ones")(
      "model", po::value(&settings.models)->required()->value_name("FILE"), "ONNX files");
  tool.positional.add("model", -1);
  tool.run = [&settings](const po::variables_map&) { return run(settings); };
  return aoe::tools::run_tool(argc, argv, std::move(tool));
}
