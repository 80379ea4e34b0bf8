// --fusion_switch_file: which graph passes not to run.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace aoe::tools {

/// Two forms. Lines "<pass>:off" or "<pass>:on", and JSON:
///   {"Switch": {"GraphFusion": {"ALL": "off", "fold_pad": "on"}, "UBFusion": {...}}}
/// "ALL": "off" switches off every pass but those that make shapes known; single ones may follow. The passes have one
/// list of names, so both groups of the JSON form mean the same. A name that is no pass gets a warning with those that
/// are: files written for other tools keep working. Error(kUsage) when the file is missing or malformed.
std::set<std::string> read_fusion_switches(const std::filesystem::path& path);

}  // namespace aoe::tools
