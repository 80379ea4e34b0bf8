// Which bank is meant, from flags and variables.
#include "bank/location.h"
#include "base/error.h"
#include "compiler/soc.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
namespace {

bank::BankKind kind_of(int job_type) {
  if (job_type == 1) return bank::BankKind::kGraph;
  if (job_type == 2) return bank::BankKind::kOp;
  throw Error(ExitCode::kUsage, "--job_type=" + std::to_string(job_type) + " is not known", {},
              "1 is the subgraph bank, 2 the operator bank");
}

bool wants_json(const po::variables_map& flags) {
  const std::string format = text_of(flags, "format");
  if (format != "table" && format != "json")
    reject("--format=" + format, "is not known", "table or json");
  return format == "json" || flags.contains("json");
}

}  // namespace

BankRequest::BankRequest(const po::variables_map& flags, std::vector<std::string> subjects)
    : flags_(flags), subjects_(std::move(subjects)), is_json_(wants_json(flags)) {
  if (const std::string given = text_of(flags, "soc_version"); given != "auto")
    soc_version_ = given;
}

const std::string& BankRequest::soc_version() const {
  if (soc_version_.empty()) {
    const std::string named = text_of(flags_, "bank");
    if (!named.empty()) soc_version_ = bank::stated_soc_version(named).value_or("");
    if (soc_version_.empty()) soc_version_ = compiler::detect_soc(threads_of(flags_)).version;
  }
  return soc_version_;
}

bank::BankKind BankRequest::kind(bank::BankKind fallback) const {
  const auto& job_type = flags_["job_type"];
  if (!job_type.defaulted()) return kind_of(job_type.as<int>());
  const std::filesystem::path directory = text_of(flags_, "bank");
  return directory.parent_path().filename() == name(bank::BankKind::kGraph) ? bank::BankKind::kGraph
                                                                            : fallback;
}

std::filesystem::path BankRequest::directory(bank::BankUse use, bank::BankKind kind) const {
  const std::string named = text_of(flags_, "bank");
  if (named.empty())
    return bank::custom_bank_location(kind, use, soc_version(),
                                      bank::BankEnvironment::from_process())
        .directory;
  std::error_code status;
  if (use == bank::BankUse::kRead && !std::filesystem::exists(named, status))
    throw Error(ExitCode::kBank, "there is no bank", named, "correct --bank");
  return named;
}

bank::KnowledgeBank BankRequest::open() const {
  return bank::KnowledgeBank(directory(bank::BankUse::kRead, kind()),
                             {.soc_version = soc_version(), .read_only = true});
}

bank::KnowledgeBank BankRequest::open_to_write(bank::BankKind kind) const {
  return bank::KnowledgeBank(directory(bank::BankUse::kTune, kind), {.soc_version = soc_version()});
}

}  // namespace aoe::tools
