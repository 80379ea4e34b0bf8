// aoe_bank: looks into knowledge banks and looks after them.
#include "base/error.h"
#include "tools/aoe_bank/commands.h"
#include "tools/common/commands.h"

namespace aoe::tools {
namespace {

template <void (*kRun)(const BankRequest&)>
ExitCode done(const BankRequest& request) {
  kRun(request);
  return ExitCode::kSuccess;
}

struct Command : CommandWords {
  ExitCode (*run)(const BankRequest&);
};
constexpr Command kCommands[] = {
    {{"list"}, done<list_entries>},
    {{"show", 1, 1, "a repo_key (aoe_bank list shows them)"}, done<show_entry>},
    {{"stats"}, done<print_stats>},
    {{"explain", 1, 2, "a model (.om or .onnx), and the name of a node"}, done<explain_model>},
    {{"export", 1, 1, "a file to write"}, done<export_bank>},
    {{"import", 1, 1, "a file that export or aoe wrote"}, done<import_bank>},
    {{"merge", 1, kAnyWords, "banks: roots, directories or exported files"}, done<merge_banks>},
    {{"diff", 2, 2, "two banks: roots, directories or exported files"}, done<compare_banks>},
    {{"verify"}, verify_bank},
    {{"repair"}, done<repair_bank>},
    {{"prune"}, done<prune_bank>},
    {{"rm", 1, kAnyWords, "repo_keys (aoe_bank list shows them)"}, done<remove_tasks>},
    {{"compact"}, done<compact_bank>},
    {{"backup", 1, 1, "a directory for backups"}, done<back_up_bank>},
    {{"restore", 1, 1, "a directory that backup has filled"}, done<restore_bank>},
    {{"promote", 1, 1, "the root of a built-in bank"}, done<promote_bank>},
};

constexpr FlagOfCommands kOwnFlags[] = {
    {"records", "show list prune"}, {"all", "list"},    {"output", "merge"},
    {"older_than", "prune"},        {"stale", "prune"}, {"fix", "verify"},
    {"remeasure", "verify"},        {"seed", "verify"},
};

ExitCode run(const po::variables_map& flags) {
  const Command& command = command_of(flags, kCommands);
  check_flags_of(command, flags, kOwnFlags);
  return command.run(BankRequest(flags, words_of(flags, command)));
}

void add_flags(po::options_description& flags) {
  auto add = flags.add_options();
  add("job_type", number_or(2, "N"), "1: subgraph bank, 2: operator bank");
  add("soc_version", text_or("auto", "NAME"),
      "whose bank; auto: as the bank of --bank states, else this machine");
  add_threads_flag(flags, "of soc_version=auto; default as aoe chooses");
  add("bank", text("DIR"), "this bank directory, whatever the variables say");
  add("records",
      "show, and list as JSON: every measurement, failures included; prune: of measurements as "
      "well");
  add("all", "list: also tasks whose default nothing beats");
  add("output,o", text("DIR"), "merge: the root of the new banks");
  add("older_than", text("DAYS"), "prune: what was won before");
  add("stale", "prune: what no program of this version uses");
  add("fix", "verify: repair what is damaged, remove what is stale, and what does not hold");
  add("remeasure", po::value<int>()->value_name("N"),
      "verify: measure N strategies again, beside their defaults");
  add("seed", number_or(1, "N"), "of --remeasure: which ones");
  add("format", text_or("table", "FORMAT"), "table or json");
  add("json", "the same as --format=json");
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{
      .name = "aoe_bank",
      .synopsis = "aoe_bank COMMAND [WORDS] [flags]",
      .summary =
          "Looks into knowledge banks and looks after them.\n"
          "  list                   one line for each strategy\n"
          "  show KEY               all strategies of a task, with --records every measurement\n"
          "  explain MODEL [NODE]   which strategy each op of a model got, from where, and why\n"
          "  stats                  what a bank is made of\n"
          "  export FILE            the bank as one file\n"
          "  import FILE            adds what a file holds\n"
          "  merge A B.. -o ROOT    puts banks together\n"
          "  diff A B               tasks of which two banks do not say the same\n"
          "  verify [--fix]         reads every byte; exit code 5 when one is damaged;\n"
          "                         --remeasure=N: exit code 8 when a gain is gone\n"
          "  repair                 moves damage aside, keeps what can still be read\n"
          "  prune                  removes what is stale, or old\n"
          "  rm KEY..               removes tasks, their measurements too\n"
          "  compact                gives back room\n"
          "  backup DIR             adds a backup\n"
          "  restore DIR            takes the newest backup\n"
          "  promote ROOT           confirmed winners become a built-in bank\n"
          "The bank is found as aoe finds it: TUNE_BANK_PATH, ASCEND_CACHE_PATH, else\n"
          "${HOME}/Ascend/latest/data/aoe/custom.",
      .examples =
          "  aoe_bank list\n"
          "  aoe_bank show 1234567890123456789 --records\n"
          "  aoe_bank explain resnet50.om\n"
          "  aoe_bank export bank.zst && TUNE_BANK_PATH=/srv/bank aoe_bank import bank.zst\n"
          "  aoe_bank merge /srv/bank night.zst -o /srv/merged\n"
          "  aoe_bank prune --stale --older_than=180 --records\n"
          "  TUNE_BANK_PATH=/srv/bank aoe_bank list --json | jq '.[].repo_key'\n"};
  add_command_flags(tool);
  add_flags(tool.flags);
  tool.run = run;
  return run_tool(argc, argv, std::move(tool));
}
