// Reads both forms into one list of switches, then applies them in order.
#include "tools/atc/fusion_switch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/nesting.h"
#include "graph/passes.h"

namespace aoe::tools {
namespace {

using nlohmann::json;

/// Without it most shapes that a model computes itself stay unknown: nothing to save, everything to lose.
constexpr const char* kAlwaysOn = "fold_constants";

struct Switch {
  std::string pass;
  bool on = true;
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ExitCode::kUsage, what, "--fusion_switch_file " + path.string(),
              "write lines \"pass:off\", or {\"Switch\": {\"GraphFusion\": {\"pass\": \"off\"}}}");
}

Switch switch_from(const std::filesystem::path& path, const std::string& pass,
                   const std::string& state) {
  if (pass.empty()) fail(path, "a pass without a name");
  if (state != "on" && state != "off")
    fail(path, "'" + state + "' of pass '" + pass + "' is neither on nor off");
  return {pass, state == "on"};
}

std::vector<Switch> from_json(const std::filesystem::path& path, const std::string& text) {
  json content;
  if (nests_little_json(text)) content = json::parse(text, nullptr, false);
  if (!content.is_object() || !content.contains("Switch") || !content["Switch"].is_object())
    fail(path, "is no JSON object with \"Switch\"");
  std::vector<Switch> switches;
  for (const auto& [group, passes] : content["Switch"].items()) {
    if ((group != "GraphFusion" && group != "UBFusion") || !passes.is_object())
      fail(path, "\"" + group + "\" is no group of passes");
    for (const auto& [pass, state] : passes.items())
      switches.push_back(
          switch_from(path, pass, state.is_string() ? state.get<std::string>() : state.dump()));
  }
  // Objects have no order: "ALL" means what comes before the single ones.
  std::ranges::stable_partition(switches, [](const Switch& s) { return s.pass == "ALL"; });
  return switches;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<Switch> from_lines(const std::filesystem::path& path, const std::string& text) {
  std::vector<Switch> switches;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty()) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) fail(path, "'" + line + "' has no ':'");
    switches.push_back(
        switch_from(path, trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))));
  }
  return switches;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const graph::Pass& pass : graph::passes().in_order()) names.push_back(pass.name);
  return names;
}

void warn_unknown(const std::string& pass, const std::vector<std::string>& names) {
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  logger("atc")->warn("--fusion_switch_file: there is no pass '{}'; there are: {}", pass, known);
}

}  // namespace

std::set<std::string> read_fusion_switches(const std::filesystem::path& path) {
  const std::string text = read_file(path, ExitCode::kUsage);
  const bool is_json = trimmed(text.substr(0, text.find('\n'))).starts_with('{');
  const std::vector<std::string> names = pass_names();
  std::set<std::string> disabled;
  for (const auto& [pass, on] : is_json ? from_json(path, text) : from_lines(path, text)) {
    if (pass == "ALL") {
      disabled.clear();
      if (!on) disabled.insert(names.begin(), names.end());
      disabled.erase(kAlwaysOn);
    } else if (std::ranges::find(names, pass) == names.end()) {
      warn_unknown(pass, names);
    } else if (on) {
      disabled.erase(pass);
    } else {
      disabled.insert(pass);
    }
  }
  return disabled;
}

}  // namespace aoe::tools
