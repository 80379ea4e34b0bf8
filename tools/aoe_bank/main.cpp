// aoe_bank: looks into a knowledge bank.
#include "bank/location.h"
#include "base/error.h"
#include "compiler/soc.h"
#include "tools/aoe_bank/commands.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

struct Command {
  const char* name;
  void (*run)(const bank::KnowledgeBank&, const BankQuery&);
  bool needs_key;
};
constexpr Command kCommands[] = {
    {"list", list_entries, false},
    {"show", show_entry, true},
};

const Command& command_named(const std::string& name) {
  std::string known;
  for (const Command& command : kCommands) {
    if (name == command.name) return command;
    known += (known.empty() ? "" : ", ") + std::string(command.name);
  }
  throw Error(ExitCode::kUsage,
              name.empty() ? "no command given" : "unknown command '" + name + "'", {},
              "commands are: " + known);
}

bank::BankKind kind_of(int job_type) {
  if (job_type == 1) return bank::BankKind::kGraph;
  if (job_type == 2) return bank::BankKind::kOp;
  throw Error(ExitCode::kUsage, "--job_type=" + std::to_string(job_type) + " is not known", {},
              "1 is the subgraph bank, 2 the operator bank");
}

ExitCode run(const po::variables_map& flags) {
  const Command& command = command_named(text_of(flags, "command"));
  const std::string repo_key = text_of(flags, "repo_key");
  if (command.needs_key && repo_key.empty())
    throw Error(ExitCode::kUsage, std::string(command.name) + " needs a repo_key", {},
                "aoe_bank list shows them");
  const std::string given = text_of(flags, "soc_version");
  const std::string soc_version =
      given == "auto" ? compiler::detect_soc(threads_of(flags)).version : given;
  const std::string directory = text_of(flags, "bank");
  const bank::BankLocation location =
      directory.empty()
          ? bank::custom_bank_location(kind_of(flags["job_type"].as<int>()), bank::BankUse::kRead,
                                       soc_version, bank::BankEnvironment::from_process())
          : bank::BankLocation{directory, "--bank"};
  if (std::error_code status; !directory.empty() && !std::filesystem::exists(directory, status))
    throw Error(ExitCode::kBank, "there is no bank", directory, "correct --bank");
  const bank::KnowledgeBank bank(location.directory,
                                 {.soc_version = soc_version, .read_only = true});
  command.run(
      bank,
      {.repo_key = repo_key, .json = flags.contains("json"), .records = flags.contains("records")});
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "aoe_bank",
            .synopsis = "aoe_bank list|show [REPO_KEY] [flags]",
            .summary =
                "Looks into a knowledge bank: what was tuned, what won, and by how much. The bank "
                "is found as aoe finds it:\n"
                "TUNE_BANK_PATH, ASCEND_CACHE_PATH, else ${HOME}/Ascend/latest/data/aoe/custom.",
            .examples =
                "  aoe_bank list\n"
                "  aoe_bank show 1234567890123456789 --records\n"
                "  TUNE_BANK_PATH=/srv/bank aoe_bank list --json | jq '.[].repo_key'\n"};
  auto add = tool.flags.add_options();
  add("command", text("COMMAND"), "list or show");
  add("repo_key", text("KEY"), "the task to show");
  add("job_type", number_or(2, "N"), "1: subgraph bank, 2: operator bank");
  add("soc_version", text_or("auto", "NAME"), "whose bank; auto is this machine");
  add_threads_flag(tool.flags, "of soc_version=auto; default as aoe chooses");
  add("bank", text("DIR"), "this bank directory, whatever the variables say");
  add("records", "show: every measurement, failures included");
  add("json", "machine-readable output");
  tool.positional.add("command", 1).add("repo_key", 1);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
