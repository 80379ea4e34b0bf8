// A node of a fleet: takes orders one after the other, measures on its own cores, answers.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "compiler/soc.h"
#include "tuner/fleet/spool.h"

namespace aoe::tuner {

struct ServeOptions {
  Spool spool;
  std::string node;  ///< empty: made of host, process and time
  compiler::Soc soc;
  int compile_threads = 1;
  std::filesystem::path worker;  ///< what measures
  std::stop_token stop;
  double beat_s = 5;
  double orphaned_after_s = 600;  ///< of a coordinator that gives no sign of life
};

/// Until the coordinator ends, is gone, or `stop`. What an order does wrong is answered; Error: there is nothing to serve.
void serve_tasks(const ServeOptions& options);

}  // namespace aoe::tuner
