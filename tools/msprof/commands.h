// What msprof does: collects by default, and one function for each sub-command or mode. Each is a program of its own with flags
// and exit code; argv[0] is its name.
#pragma once

#include <string>

#include "profiler/export/table_writer.h"

namespace aoe::tools {

/// `msprof [flags] APP [arguments]`, and system data alone: `msprof --sys-period=...`.
int run_collection(int argc, char** argv);

// With --output=DIR: --export=on, --parse=on, --query=on, --analyze=on.
int run_export_mode(int argc, char** argv);
int run_parse_mode(int argc, char** argv);
int run_query_mode(int argc, char** argv);
int run_analyze_mode(int argc, char** argv);

// With -dir DIR: import, export, query, show, advise.
int run_import_command(int argc, char** argv);
int run_export_command(int argc, char** argv);
int run_query_command(int argc, char** argv);
int run_show_command(int argc, char** argv);
int run_advise_command(int argc, char** argv);

/// "csv" or "json"; Error(kUsage) that names the flag otherwise.
profiler::SummaryFormat summary_format(const std::string& value, const std::string& flag);
/// "did you mean msprof show?" of "shwo"; empty where no sub-command is called nearly so.
std::string meant_command(const std::string& word);
/// `msprof collect -m MAIN --config ssh.ini`: on a board, over SSH.
int run_remote_collection(int argc, char** argv);

}  // namespace aoe::tools
