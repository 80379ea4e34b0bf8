// operator_table: writes docs/operators.md to its standard output. Every fact in it is an answer of the registries, the
// importer or an Impl; the only thing written by hand is why an operator is left out.
#include <onnx/defs/schema.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "graph/import/classical.h"
#include "graph/import/function_call.h"
#include "graph/import/onnx_import.h"
#include "tests/compiler/shape_line.h"
#include "tests/conformance/own_case.h"
#include "tests/docs/operators/facts.h"
#include "tests/temp_dir.h"

namespace aoe::docs {
namespace {

using Name = std::pair<std::string, std::string>;  ///< domain, type
using Parts = std::map<Carrier, std::set<std::string>>;

constexpr const char* kTraining = "ai.onnx.preview.training";

/// Operators that are left out, by domain and name; no name: whatever else the domain has.
struct Refused {
  const char* domain;
  std::vector<const char*> types;
  const char* why;
};
const std::vector<Refused>& refused() {
  static const std::vector<Refused> list = {
      {"", {"ImageDecoder"}, "image decoding: files are decoded before a model is given them"},
      {kTraining, {"Gradient"}, "training: graphs are not differentiated"},
      {graph::kClassical,
       {"CastMap", "DictVectorizer"},
       "dictionaries: tensors hold numbers and bools"},
  };
  return list;
}

std::string in_words(DataType type) {
  static const std::map<DataType, std::string> kWords = {
      {DataType::kFloat, "f32"},  {DataType::kFloat16, "f16"}, {DataType::kBFloat16, "bf16"},
      {DataType::kDouble, "f64"}, {DataType::kInt8, "i8"},     {DataType::kInt16, "i16"},
      {DataType::kInt32, "i32"},  {DataType::kInt64, "i64"},   {DataType::kUint8, "u8"},
      {DataType::kUint16, "u16"}, {DataType::kUint32, "u32"},  {DataType::kUint64, "u64"},
      {DataType::kBool, "bool"}};
  return kWords.at(type);
}

std::string types_of(const TypeFacts& facts, Carrier carrier) {
  static const std::vector<std::pair<std::string, std::vector<DataType>>> kGroups = {
      {"all",
       {DataType::kFloat, DataType::kFloat16, DataType::kBFloat16, DataType::kDouble,
        DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64, DataType::kUint8,
        DataType::kUint16, DataType::kUint32, DataType::kUint64, DataType::kBool}},
      {"ints",
       {DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64, DataType::kUint8,
        DataType::kUint16, DataType::kUint32, DataType::kUint64}}};
  std::vector<DataType> left;
  for (const DataType type : kGroups.front().second)
    if (const auto found = facts.find(type); found != facts.end() && found->second == carrier)
      left.push_back(type);
  std::string text;
  const auto say = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  for (const auto& [word, types] : kGroups) {
    const auto is_left = [&](DataType type) { return std::ranges::count(left, type) > 0; };
    if (!std::ranges::all_of(types, is_left)) continue;
    std::erase_if(left, [&](DataType type) { return std::ranges::count(types, type) > 0; });
    say(word);
  }
  for (const DataType type : left) say(in_words(type));
  return text;
}

std::string versions_of(const reference::OpDef& def) {
  std::string text;
  for (const int version : def.versions)
    text += (text.empty() ? "" : ", ") + std::to_string(version);
  return text;
}

void print_row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) std::cout << (cell.empty() ? "| " : "| " + cell + " ");
  std::cout << "|\n";
}

void print_head(const std::vector<std::string>& cells) {
  print_row(cells);
  print_row(std::vector<std::string>(cells.size(), "---"));
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string quoted(const Name& name) {
  return (name.first.empty() || name.first == graph::kMicrosoft ? "" : name.first + " ") +
         name.second;
}

// ---- operators ----

void print_operators(const std::vector<std::string>& lines) {
  std::map<Name, const reference::OpDef*> defs;
  for (const reference::OpDef* def : reference::ops().all())
    if (!def->onnx_type.empty() && def->kind != reference::OpKind::kControl)
      defs[{def->onnx_domain, def->onnx_type}] = def;
  print_head(
      {"operator", "here", "versions", "no step", "generated", "oneDNN", "native", "reference"});
  for (const auto& [name, def] : defs) {
    const TypeFacts facts = type_facts(*def, lines);
    const bool is_microsoft = name.first == graph::kMicrosoft;
    print_row({(is_microsoft ? name.first + " " : "") + quoted(name), def->type, versions_of(*def),
               types_of(facts, Carrier::kNobody), types_of(facts, Carrier::kGenerated),
               types_of(facts, Carrier::kLibrary), types_of(facts, Carrier::kNative),
               types_of(facts, Carrier::kReference)});
  }
}

// ---- what the importer takes apart: asked with the cases of tests/conformance/cases/ ----

/// What models with the operator become.
std::map<Name, Parts> parts_by_operator() {
  const tests::TempDir directory;
  std::map<Name, Parts> all;
  for (const std::string& stem : conformance::own_case_names()) {
    const auto json = parse_json(
        read_file(std::filesystem::path(AOE_CASES_DIR) / (stem + ".json"), ExitCode::kData));
    const conformance::NodeCase model = conformance::load_own_case(stem, directory.path());
    const Parts parts = parts_of(graph::import_onnx(model.model, {}));
    for (const auto& node : json.at("nodes")) {
      Parts& known =
          all[{node.at("domain").get<std::string>(), node.at("op_type").get<std::string>()}];
      for (const auto& [carrier, types] : parts) known[carrier].insert(types.begin(), types.end());
    }
  }
  return all;
}

void print_parts(const Name& name, const Parts& parts) {
  std::set<std::string> fast;
  for (const auto& [carrier, types] : parts)
    if (carrier != Carrier::kNobody && carrier != Carrier::kReference)
      fast.insert(types.begin(), types.end());
  const auto slow = parts.find(Carrier::kReference);
  print_row({quoted(name), joined(fast), slow == parts.end() ? "" : joined(slow->second)});
}

void print_functions(const std::string& domain, const std::map<Name, Parts>& parts) {
  print_head({"operator", "generated, oneDNN or native", "reference"});
  for (const graph::Function* function : graph::functions().all()) {
    if (function->domain != domain) continue;
    const auto found = parts.find({function->domain, function->type});
    if (found == parts.end())
      throw Error(ExitCode::kData, "no case has it", "operator " + function->type,
                  "write one in tests/conformance/make_cases.py");
    print_parts(found->first, found->second);
  }
}

bool is_resolved(const Name& name) {
  const reference::OpDef* def = reference::ops().find_onnx(name.first, name.second);
  const bool is_operator = def != nullptr && def->kind != reference::OpKind::kControl;
  return !is_operator && graph::functions().find(name.first, name.second) == nullptr;
}

void print_resolved(const std::map<Name, Parts>& parts) {
  std::set<std::string> names;
  for (const auto& [name, unused] : parts)
    if (is_resolved(name)) names.insert(name.second);
  std::cout << joined(names) << ".\n";
}

// ---- what is left out ----

const Refused* find_refused(const Name& name) {
  const auto has = [&](const Refused& entry) {
    return name.first == entry.domain &&
           (entry.types.empty() || std::ranges::count(entry.types, name.second) > 0);
  };
  const auto found = std::ranges::find_if(refused(), has);
  return found == refused().end() ? nullptr : &*found;
}

void print_refused(const std::map<Name, Parts>& parts) {
  std::map<std::string, std::set<std::string>> by_reason;
  const auto refuse = [&](const Name& name) {
    const bool is_known = reference::ops().find_onnx(name.first, name.second) != nullptr ||
                          graph::functions().find(name.first, name.second) != nullptr ||
                          parts.contains(name);
    const Refused* entry = find_refused(name);
    if (is_known == (entry != nullptr))
      throw Error(
          ExitCode::kData,
          is_known ? "is refused by name, and there" : "is neither there nor refused by name",
          "operator " + name.first + " " + name.second,
          "see refused() in tests/docs/operators/operator_table.cpp");
    if (entry != nullptr) by_reason[entry->why].insert(quoted(name));
  };
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    refuse({schema.domain(), schema.Name()});
  for (const Refused& entry : refused())
    for (const char* type : entry.types) refuse({entry.domain, type});
  print_head({"operators", "why not"});
  for (const auto& [why, names] : by_reason) print_row({joined(names), why});
}

void print_page() {
  const std::vector<std::string> lines = compiler::read_shape_lines(AOE_OPERATOR_CALLS);
  const std::map<Name, Parts> parts = parts_by_operator();
  std::cout <<
      R"(# Operators

Which operators of ONNX a model may have, and who carries them out. `operator_table` writes this page by asking the code; do not edit it.

What has no column is refused, by a message that names node and operator. *Versions* are the operator sets at which the meaning changed,
each of which is read as it was meant; a number that is missing means the same as the one before it. Types are those of the values, not
of indices, scales and conditions: f32 is float32, i8 to i64 and u8 to u64 are integers (*ints*: all of these), *all* are these, f16, bf16,
f64 and bool.

| column | who carries it out |
| --- | --- |
| no step | nobody: the result lies where its input does, or is known when the model is compiled |
| generated | code made for the task, tuned |
| oneDNN | the library, tuned |
| native | a kernel of `native/`, threaded C++ |
| reference | plain loops (`AI_CPU` in profiles): right, and slow |

What is stated holds for a small call, as the passes leave it, and the best Impl; for other sizes or attributes it may be less.

## Operators of ONNX

)";
  print_operators(lines);
  std::cout << R"(
## Operators of ONNX that are taken apart

The importer puts their parts in their place (`graph/functions/`), which fuse and are tuned like any others. The columns say what the passes
leave of the models in `tests/conformance/cases/` that have them, some of which compute in float16.

)";
  print_functions("", parts);
  std::cout << R"(
## Operators of com.microsoft

Taken apart as well. Others of this domain are refused.

)";
  print_functions(graph::kMicrosoft, parts);
  std::cout << R"(
## Operators of ai.onnx.ml

Taken apart as well; trees become an operator of our own, TreeEnsemble, and probabilities of pairs of classes another, PairwiseCoupling. The label of
two classes that both have votes is that of the larger score. Categories and labels may be [texts](#texts). ZipMap gives the matrix that it reads, whose
columns are in the order of its labels.

)";
  print_functions(graph::kClassical, parts);
  std::cout << R"(
## Resolved while importing

Sequences and optionals leave tensors under other names; a sequence whose length only a run can tell, as a loop may carry it, is one tensor of
bytes, which operators of our own change and read on the reference, and so is an optional that an If may leave empty. A Loop of a known number
of trips that carries values of other rank or type from trip to trip is written out. The graphs of FlexAttention are written out where it stands; the bodies of
control flow are compiled like models of their own, and a step of the om runs them.

Tensors of int4, uint4, int2, uint2, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0 and float4e2m1 are held as
int8, uint8 or float32, also as inputs and outputs of the om. DequantizeLinear, Cast and what moves elements read them, Cast and (but for float8e8m0)
QuantizeLinear give them.

)";
  print_resolved(parts);
  std::cout << R"(
## Texts

A tensor of texts (`tensor(string)`) is one of int64: for each text its place in a list of all that the model's attributes and constants know, which
[the om](om.md#graph-section) has, and for any other text a number behind them. So two texts are equal where their numbers are, and what moves elements
moves texts: Compress, Concat, Expand, Flatten, Gather, GatherElements, GatherND, Identity, If, Reshape, ReverseSequence, Slice, Split, Squeeze, Tile,
Transpose, Unsqueeze, Where and ArrayFeatureExtractor, and also Loop, OneHot, Optional, Scan, ScatterElements, ScatterND, SplitToSequence and sequences. Equal, Shape,
Size, TfIdfVectorizer, LabelEncoder, OneHotEncoder and CategoryMapper read them; classifiers, LabelEncoder and CategoryMapper give them.

Letters are looked up by Cast, CastLike, RegexFullMatch, StringConcat, StringNormalizer, StringSplit, Unique and Tokenizer of com.microsoft, on the reference: texts that are
none of the model's live [as long as an execution](om.md#texts-of-an-execution). Expressions are those of RE2, of several matches of a Tokenizer the longest counts. Upper and
lower case go by the locale that StringNormalizer names; where that is not installed, by Unicode, but for the languages with a dotless i. Cast writes numbers with up to
eight digits, and reads the number that a text begins with, as ONNX Runtime does; Unique orders by bytes. StringSplit without delimiter takes tabs and line ends for spaces, as
ONNX says and ONNX Runtime does not. Everything else refuses texts, with the node's name.

## Checked against ONNX's node cases

| cases | how many | pass | left out, by name |
| --- | ---: | ---: | --- |
| ONNX 1.12, Debian's libonnx-testdata: every run of the tests | 932 | 911 | `tests/conformance/excluded.txt` |
| those of them, with all sizes of their inputs known only when they run: every run of the tests | 911 | 910 | `tests/conformance/excluded_open.txt` |
| opset 28, written by the scripts of ONNX's repository of 2026-08: `AOE_ONNX_DATA` ([CONTRIBUTING](../CONTRIBUTING.md)) | 1831 | 1805 | `tests/conformance/excluded_newest.txt` |

A case passes when its model is compiled to an om, loaded, run and gives what ONNX's own runner accepts. Of the 26 of opset 28 that do not, 9
are of image decoding and 10 draw random numbers; the list has the reasons of the other seven.

## Left out

)";
  print_refused(parts);
}

}  // namespace
}  // namespace aoe::docs

int main() {
  try {
    aoe::docs::print_page();
    return 0;
  } catch (const aoe::Error& error) {
    std::cerr << "operator_table: " << error.what() << "\n";
    return static_cast<int>(error.code());
  }
}
