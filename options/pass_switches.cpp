// Reads all forms into one list of switches, then applies them in order.
#include "options/pass_switches.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/words.h"
#include "graph/passes.h"
#include "options/flags.h"

namespace aoe::options {
namespace {

using nlohmann::json;

/// Without it most shapes that a model computes itself stay unknown: nothing to save, everything to lose.
constexpr const char* kAlwaysOn = "fold_constants";

struct Switch {
  std::string pass;
  bool on = true;
};

/// Where switches come from, for messages.
struct Origin {
  std::string where, advice;
};

[[noreturn]] void fail(const Origin& origin, const std::string& what) {
  throw Error(ExitCode::kUsage, what, origin.where, origin.advice);
}

Switch switch_from(const Origin& origin, const std::string& pass, const std::string& state) {
  if (pass.empty()) fail(origin, "a pass without a name");
  if (state != "on" && state != "off")
    fail(origin, "'" + state + "' of pass '" + pass + "' is neither on nor off");
  return {pass, state == "on"};
}

std::vector<Switch> from_json(const Origin& origin, const std::string& text) {
  const json content = json_or_discarded(text);
  if (!content.is_object() || !content.contains("Switch") || !content["Switch"].is_object())
    fail(origin, "is no JSON object with \"Switch\"");
  std::vector<Switch> switches;
  for (const auto& [group, passes] : content["Switch"].items()) {
    if ((group != "GraphFusion" && group != "UBFusion") || !passes.is_object())
      fail(origin, "\"" + group + "\" is no group of passes");
    for (const auto& [pass, state] : passes.items())
      switches.push_back(switch_from(
          origin, pass, state.is_string() ? state.get<std::string>() : json_text(state)));
  }
  // Objects have no order: "ALL" means what comes before the single ones.
  std::ranges::stable_partition(switches, [](const Switch& s) { return s.pass == "ALL"; });
  return switches;
}

std::vector<Switch> from_lines(const Origin& origin, const std::string& text, char separator) {
  std::vector<Switch> switches;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, separator);) {
    line = trimmed(line);
    if (line.empty()) continue;
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos) fail(origin, "'" + line + "' has no ':'");
    switches.push_back(
        switch_from(origin, trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))));
  }
  return switches;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const graph::Pass& pass : graph::passes()) names.push_back(pass.name);
  return names;
}

void warn_unknown(const Origin& origin, const std::string& pass,
                  const std::vector<std::string>& names) {
  logger("passes")->warn("{}: there is no pass '{}'; there are: {}", origin.where, pass,
                         joined(names, ", "));
}

void apply(const Origin& origin, const std::vector<Switch>& switches,
           std::set<std::string>& disabled) {
  const std::vector<std::string> names = pass_names();
  for (const auto& [pass, on] : switches) {
    if (pass == "ALL") {
      disabled.clear();
      if (!on) disabled.insert(names.begin(), names.end());
      disabled.erase(kAlwaysOn);
    } else if (std::ranges::find(names, pass) == names.end()) {
      warn_unknown(origin, pass, names);
    } else if (on) {
      disabled.erase(pass);
    } else {
      disabled.insert(pass);
    }
  }
}

std::vector<Switch> from_file(const std::filesystem::path& path, Origin& origin) {
  origin = {"--fusion_switch_file " + path.string(),
            "write lines \"pass:off\", or {\"Switch\": {\"GraphFusion\": {\"pass\": \"off\"}}}"};
  const std::string text = read_file(path, ExitCode::kUsage);
  const bool is_json = trimmed(text.substr(0, text.find('\n'))).starts_with('{');
  return is_json ? from_json(origin, text) : from_lines(origin, text, '\n');
}

/// --oo_level: O1 leaves what simplifies and takes no choice away.
std::set<std::string> disabled_at(const std::string& level) {
  constexpr std::string_view kOfO1[] = {kAlwaysOn, "widen_floats",
                                        "eliminate_common_subexpressions", "eliminate_dead_code",
                                        "remove_identities"};
  if (level != "O1" && level != "O3")
    reject("--oo_level", "'" + level + "' is unknown", "use O1 (simplify only) or O3 (all passes)");
  std::set<std::string> disabled;
  if (level == "O3") return disabled;
  for (const std::string& name : pass_names())
    if (std::ranges::find(kOfO1, name) == std::end(kOfO1)) disabled.insert(name);
  return disabled;
}

}  // namespace

void add_pass_flags(po::options_description& flags) {
  flags.add_options()("fusion_switch_file", text("FILE"),
                      "switches graph passes: lines \"pass:off\", or JSON {\"Switch\": ...}")(
      "optimization_switch", text("SWITCHES"), "\"pass:off;other:on\", behind the file's")(
      "oo_level", text_or("O3", "O1|O3"), "O1: only passes that simplify; O3: all, fusions too");
}

std::set<std::string> disabled_passes(const po::variables_map& flags) {
  std::set<std::string> disabled = disabled_at(flags["oo_level"].as<std::string>());
  Origin origin;
  if (flags.contains("fusion_switch_file")) {
    const auto switches = from_file(flags["fusion_switch_file"].as<std::string>(), origin);
    apply(origin, switches, disabled);
  }
  if (flags.contains("optimization_switch")) {
    origin = {"--optimization_switch", "write it like \"fuse_epilogues:off;fuse_attention:on\""};
    apply(origin, from_lines(origin, flags["optimization_switch"].as<std::string>(), ';'),
          disabled);
  }
  return disabled;
}

}  // namespace aoe::options
