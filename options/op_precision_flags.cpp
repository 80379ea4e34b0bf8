// Reads the four flags, each into selections of operators.
#include "options/op_precision_flags.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/words.h"
#include "options/flags.h"
#include "reference/op.h"

namespace aoe::options {
namespace {

using compiler::OpPrecision;
using nlohmann::json;

std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);)
    if (word = trimmed(word); !word.empty()) words.push_back(word);
  return words;
}

/// The IR type; Error when there is no such operator.
std::string known_type(const std::string& type, const std::string& where) {
  const reference::OpDef* def = reference::ops().find(type);
  if (def == nullptr) def = reference::ops().find_onnx("", type);
  if (def == nullptr)
    reject(where, "there is no operator type '" + type + "'", "use IR types or ONNX types");
  return def->type;
}

void read_implmode(const po::variables_map& flags, OpPrecision& precision) {
  const std::string mode = text_of(flags, "op_select_implmode");
  const std::string list = text_of(flags, "optypelist_for_implmode");
  const bool is_for_all = mode.ends_with("_for_all");
  if (mode.empty() && !list.empty())
    reject("--optypelist_for_implmode", "means nothing alone", "add --op_select_implmode");
  if (mode.empty() || mode == "high_performance" || mode == "high_performance_for_all") return;
  if (mode != "high_precision" && mode != "high_precision_for_all")
    reject("--op_select_implmode", "'" + mode + "' is unknown",
           "use high_precision or high_performance, or either with _for_all");
  for (const std::string& type : words_of(list, ','))
    precision.high.types.insert(known_type(type, "--optypelist_for_implmode"));
  precision.high.all = is_for_all || precision.high.types.empty();
}

enum class IniSection { kTypes, kNames };

/// One line of the .ini: Type=mode, below [ByNodeName] name=mode.
void read_ini_line(const std::string& line, IniSection section, const std::string& where,
                   OpPrecision& precision) {
  const std::size_t equals = line.rfind('=');
  if (equals == std::string::npos) reject(where, "'" + line + "' is not type=mode");
  const bool is_name = section == IniSection::kNames;
  const std::string left = trimmed(line.substr(0, equals)), mode = trimmed(line.substr(equals + 1));
  const std::string op = is_name ? left : known_type(left, where);
  const auto add = [&](OpPrecision::Selection& selection) {
    (is_name ? selection.names : selection.types).insert(op);
  };
  if (mode == "high_precision") return add(precision.high);
  if (mode == "enable_float_32_execution") return add(precision.kept);
  if (mode == "high_performance") {
    (is_name ? precision.high.other_names : precision.high.other_types).insert(op);
    return;
  }
  if (mode == "enable_hi_float_32_execution" || mode == "support_out_of_bound_index") {
    logger("flags")->warn("{}: {}={} has no effect: no Impl here has such a mode", where, left,
                          mode);
    return;
  }
  reject(where, "'" + mode + "' is no mode of an operator",
         "use high_precision, high_performance or enable_float_32_execution");
}

void read_ini(const std::string& path, OpPrecision& precision) {
  const std::string where = "--op_precision_mode " + path;
  IniSection section = IniSection::kTypes;
  for (const std::string& line : words_of(read_file(path, ExitCode::kUsage), '\n')) {
    if (line.starts_with('#') || line.starts_with(';')) continue;
    if (!line.starts_with('['))
      read_ini_line(line, section, where, precision);
    else if (line == "[ByOpType]")
      section = IniSection::kTypes;
    else if (line == "[ByNodeName]")
      section = IniSection::kNames;
    else
      reject(where, "'" + line + "' is no section", "use [ByOpType] or [ByNodeName]");
  }
}

/// A name a line, or "OpType::Type".
void read_kept(const std::string& path, OpPrecision& precision) {
  constexpr std::string_view kTypePrefix = "OpType::";
  for (const std::string& line : words_of(read_file(path, ExitCode::kUsage), '\n')) {
    if (line.starts_with(kTypePrefix))
      precision.kept.types.insert(
          known_type(line.substr(kTypePrefix.size()), "--keep_dtype " + path));
    else
      precision.kept.names.insert(line);
  }
}

/// {"black-list": {"to-add": [types], "to-remove": [...]}, "white-list": ..., "gray-list": ...}. The white list here is the
/// products that lower precision pays for; all else keeps its type, as if it were on the black list.
void read_mixlist(const std::string& path, OpPrecision& precision) {
  const std::string where = "--modify_mixlist " + path;
  const json content = read_json_file(path, ExitCode::kUsage);
  if (!content.is_object()) reject(where, "is no JSON object");
  for (const auto& [list, changes] : content.items()) {
    if ((list != "black-list" && list != "white-list" && list != "gray-list") ||
        !changes.is_object())
      reject(where, "\"" + list + "\" is no list", "use black-list, white-list and gray-list");
    for (const auto& [change, types] : changes.items()) {
      if ((change != "to-add" && change != "to-remove") || !types.is_array())
        reject(where, "\"" + change + "\" is no change",
               "use to-add and to-remove, lists of types");
      const bool keeps = (list == "black-list" && change == "to-add") ||
                         (list == "white-list" && change == "to-remove");
      for (const json& type : types) {
        if (!type.is_string()) reject(where, json_text(type) + " is no type");
        const std::string known = known_type(type.get<std::string>(), where);
        if (keeps)
          precision.kept.types.insert(known);
        else
          logger("flags")->warn(
              "{}: {} of {} in {} has no effect: what may be lowered is chosen by "
              "measured error",
              where, change, known, list);
      }
    }
  }
}

}  // namespace

void add_op_precision_flags(po::options_description& flags) {
  flags.add_options()("op_select_implmode", text("MODE"),
                      "high_performance (default); high_precision: float32 and plain sums, no "
                      "Winograd or Strassen")("optypelist_for_implmode", text("TYPES"),
                                              "\"Conv2D,Gemm\": for these types alone")(
      "op_precision_mode", text("FILE"),
      ".ini: Type=high_precision|high_performance|enable_float_32_execution, sections [ByOpType] "
      "and [ByNodeName]; instead of --op_select_implmode")(
      "keep_dtype", text("FILE"),
      "operators that mixed precision leaves alone: a name a line, or OpType::Type")(
      "modify_mixlist", text("FILE"),
      "JSON {\"black-list\": {\"to-add\": [types]}}: types that mixed precision leaves alone")(
      "customize_dtypes", text("FILE"), "known, but refused: use --keep_dtype");
}

compiler::OpPrecision read_op_precision(const po::variables_map& flags) {
  if (flags.contains("customize_dtypes"))
    reject("--customize_dtypes", "types of operators follow from the model and --precision_mode",
           "use --keep_dtype for operators that shall stay as they are");
  OpPrecision precision;
  if (flags.contains("op_precision_mode"))
    read_ini(text_of(flags, "op_precision_mode"), precision);
  else
    read_implmode(flags, precision);
  if (flags.contains("keep_dtype")) read_kept(text_of(flags, "keep_dtype"), precision);
  if (flags.contains("modify_mixlist")) read_mixlist(text_of(flags, "modify_mixlist"), precision);
  return precision;
}

}  // namespace aoe::options
