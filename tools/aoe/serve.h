// `aoe serve_tasks`: this machine as a node of a run of `aoe --workers` somewhere else.
#pragma once

namespace aoe::tools {

/// `arguments[0]` is "serve_tasks". The exit code.
int run_serve_tasks(int count, char** arguments);

}  // namespace aoe::tools
