// aoe_bank: looks into a knowledge bank.
#include "bank/bank_file.h"
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
  void (*run)(const bank::KnowledgeBank&, const BankQuery&);  ///< nullptr: import, which writes
  const char* needs;  ///< what stands behind the command; nullptr: nothing
};
constexpr Command kCommands[] = {
    {"list", list_entries, nullptr},
    {"show", show_entry, "a repo_key (aoe_bank list shows them)"},
    {"export", export_bank, "a file to write"},
    {"import", nullptr, "a file that export or aoe wrote"},
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

/// --job_type; without it, that of `file` or as the directory of --bank is named.
bank::BankKind wanted_kind(const po::variables_map& flags, const bank::BankContent* file) {
  const auto& job_type = flags["job_type"];
  if (!job_type.defaulted()) return kind_of(job_type.as<int>());
  if (file != nullptr) return file->kind;
  const std::filesystem::path directory = text_of(flags, "bank");
  return directory.parent_path().filename() == "graph" ? bank::BankKind::kGraph
                                                       : bank::BankKind::kOp;
}

std::filesystem::path bank_directory(const po::variables_map& flags, bank::BankKind kind,
                                     bank::BankUse use, const std::string& soc_version) {
  const std::string named = text_of(flags, "bank");
  if (named.empty())
    return bank::custom_bank_location(kind, use, soc_version, bank::BankEnvironment::from_process())
        .directory;
  std::error_code status;
  if (use == bank::BankUse::kRead && !std::filesystem::exists(named, status))
    throw Error(ExitCode::kBank, "there is no bank", named, "correct --bank");
  return named;
}

ExitCode run(const po::variables_map& flags) {
  const Command& command = command_named(text_of(flags, "command"));
  const std::string subject = text_of(flags, "subject");
  if (command.needs != nullptr && subject.empty())
    throw Error(ExitCode::kUsage, std::string(command.name) + " needs " + command.needs, {},
                "see --help");
  if (command.needs == nullptr && !subject.empty())
    throw Error(ExitCode::kUsage, std::string(command.name) + " takes no '" + subject + "'");
  const std::string given = text_of(flags, "soc_version");
  const std::string soc_version =
      given == "auto" ? compiler::detect_soc(threads_of(flags)).version : given;
  if (command.run == nullptr) {
    const bank::BankContent content = bank::read_bank_file(subject);
    const bank::BankKind kind = wanted_kind(flags, &content);
    if (kind != content.kind)
      throw Error(ExitCode::kBank, "is of the bank of the other --job_type", subject);
    bank::KnowledgeBank bank(bank_directory(flags, kind, bank::BankUse::kTune, soc_version),
                             {.soc_version = soc_version});
    import_bank(bank, content, subject);
    return ExitCode::kSuccess;
  }
  const bank::BankKind kind = wanted_kind(flags, nullptr);
  const bank::KnowledgeBank bank(bank_directory(flags, kind, bank::BankUse::kRead, soc_version),
                                 {.soc_version = soc_version, .read_only = true});
  command.run(bank, {.repo_key = subject,
                     .file = subject,
                     .kind = kind,
                     .json = flags.contains("json"),
                     .records = flags.contains("records")});
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{
      .name = "aoe_bank",
      .synopsis = "aoe_bank list | show REPO_KEY | export FILE | import FILE [flags]",
      .summary =
          "Looks into a knowledge bank: what was tuned, what won, and by how much; writes it to a "
          "file, and takes such files. The bank "
          "is found as aoe finds it:\n"
          "TUNE_BANK_PATH, ASCEND_CACHE_PATH, else ${HOME}/Ascend/latest/data/aoe/custom.",
      .examples =
          "  aoe_bank list\n"
          "  aoe_bank show 1234567890123456789 --records\n"
          "  aoe_bank export bank.zst && TUNE_BANK_PATH=/srv/bank aoe_bank import bank.zst\n"
          "  TUNE_BANK_PATH=/srv/bank aoe_bank list --json | jq '.[].repo_key'\n"};
  auto add = tool.flags.add_options();
  add("command", text("COMMAND"), "list, show, export or import");
  add("subject", text("KEY|FILE"), "the task to show, the file to write or to take");
  add("job_type", number_or(2, "N"), "1: subgraph bank, 2: operator bank");
  add("soc_version", text_or("auto", "NAME"), "whose bank; auto is this machine");
  add_threads_flag(tool.flags, "of soc_version=auto; default as aoe chooses");
  add("bank", text("DIR"), "this bank directory, whatever the variables say");
  add("records", "show: every measurement, failures included");
  add("json", "machine-readable output");
  tool.positional.add("command", 1).add("subject", 1);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
