// Flags of a node.
#include "tools/aoe/serve.h"

#include "api/worker_program.h"
#include "base/log.h"
#include "base/measuring_notice.h"
#include "compiler/soc.h"
#include "options/environment.h"
#include "tools/common/flags.h"
#include "tools/common/stop_signals.h"
#include "tools/common/tool.h"
#include "tuner/session/serve.h"

namespace aoe::tools {
namespace {

ExitCode serve(const po::variables_map& flags) {
  const StopSignals signals;
  const MeasuringNotice notice(*logger("aoe"));
  const compiler::Soc soc = compiler::detect_soc(threads_of(flags));
  tuner::serve_tasks({.spool = {text_of(flags, "spool")},
                      .node = text_of(flags, "node"),
                      .soc = soc,
                      .compile_threads = compile_threads(),
                      .worker = api::worker_program(),
                      .stop = signals.token()});
  return ExitCode::kSuccess;
}

}  // namespace

int run_serve_tasks(int count, char** arguments) {
  Tool tool;
  tool.name = "aoe serve_tasks";
  tool.synopsis = "aoe serve_tasks --spool=DIR [flags]";
  tool.summary =
      "Measures on this machine what a run of aoe --workers elsewhere asks for, until that ends.\n"
      "aoe --workers starts it by itself.";
  tool.examples =
      "  aoe serve_tasks --spool=/nfs/tuning/aoe_workspace/fleet_20260101120000000_4711\n";
  auto add = tool.flags.add_options();
  add("spool", text("DIR")->required(), "the directory that the coordinator has made");
  add("node", text("NAME"), "what this node is called; default made of host, process and time");
  add_threads_flag(tool.flags, "measure for N threads; default OMP_NUM_THREADS, else all cores");
  tool.run = serve;
  tool.ends_on_signals = false;
  return run_tool(count, arguments, std::move(tool));
}

}  // namespace aoe::tools
