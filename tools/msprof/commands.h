// What msprof does: collects by default, and one function for each sub-command or mode. Each is a program of its own with flags
// and exit code; argv[0] is its name.
#pragma once

namespace aoe::tools {

/// `msprof [flags] APP [arguments]`, and system data alone: `msprof --sys-period=...`.
int run_collection(int argc, char** argv);
/// `msprof collect -m MAIN --config ssh.ini`: on a board, over SSH.
int run_remote_collection(int argc, char** argv);

}  // namespace aoe::tools
