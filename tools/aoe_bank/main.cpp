// aoe_bank: looks into a knowledge bank.
#include "bank/location.h"
#include "base/error.h"
#include "compiler/soc.h"
#include "tools/aoe_bank/commands.h"
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
  const auto text = [&](const char* flag) {
    return flags.contains(flag) ? flags[flag].as<std::string>() : std::string();
  };
  const Command& command = command_named(text("command"));
  if (command.needs_key && text("repo_key").empty())
    throw Error(ExitCode::kUsage, std::string(command.name) + " needs a repo_key", {},
                "aoe_bank list shows them");
  const std::string given = text("soc_version");
  const std::string soc_version =
      given == "auto" ? compiler::detect_soc(flags["threads"].as<int>()).version : given;
  const std::string directory = text("bank");
  const bank::BankLocation location =
      directory.empty()
          ? bank::custom_bank_location(kind_of(flags["job_type"].as<int>()), soc_version,
                                       bank::BankEnvironment::from_process())
          : bank::BankLocation{directory, "--bank"};
  const bank::KnowledgeBank bank(location.directory,
                                 {.soc_version = soc_version, .read_only = true});
  command.run(bank, {.repo_key = text("repo_key"),
                     .json = flags.contains("json"),
                     .records = flags.contains("records")});
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
  tool.flags.add_options()("command", po::value<std::string>()->value_name("COMMAND"),
                           "list or show")("repo_key", po::value<std::string>()->value_name("KEY"),
                                           "the task to show")(
      "job_type", po::value<int>()->default_value(2)->value_name("N"),
      "1: subgraph bank, 2: operator bank")(
      "soc_version", po::value<std::string>()->default_value("auto")->value_name("NAME"),
      "whose bank; auto is this machine")("threads",
                                          po::value<int>()->default_value(0)->value_name("N"),
                                          "thread count of soc_version=auto; 0: as aoe chooses")(
      "bank", po::value<std::string>()->value_name("DIR"),
      "this bank directory, whatever the variables say")(
      "records", "show: every measurement, failures included")("json", "machine-readable output");
  tool.positional.add("command", 1).add("repo_key", 1);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
