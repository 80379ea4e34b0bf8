// Every ONNX node test, and every case of our own, through the real path. Those in excluded.txt must fail: one that passes is to be taken off it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "tests/conformance/node_case.h"
#include "tests/conformance/own_case.h"
#include "tests/conformance/real_path.h"
#include "tests/temp_dir.h"

namespace aoe::conformance {
namespace {

constexpr std::string_view kRandom =
    "random";  ///< such cases are not even run: they could pass by chance

/// Name -> reason. Lines are "name: reason"; empty ones and those that begin with # are skipped.
std::map<std::string, std::string> read_exclusions(const std::string& name) {
  const std::string path = AOE_TEST_DIR + ("/" + name);
  std::ifstream file(path);
  if (!file) throw Error(ExitCode::kData, "cannot be read", path);
  std::map<std::string, std::string> exclusions;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos)
      throw Error(ExitCode::kData, "line without a reason: " + line, path);
    exclusions[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return exclusions;
}

const std::map<std::string, std::string>& exclusions() {
  static const auto read =
      read_exclusions(is_newer_onnx() ? "excluded_newest.txt" : "excluded.txt");
  return read;
}

/// What fails when sizes are open and not else.
const std::map<std::string, std::string>& open_exclusions() {
  static const auto read = read_exclusions("excluded_open.txt");
  return read;
}

/// Empty when the case passes, otherwise what went wrong.
std::string failure_of(const std::function<NodeCase()>& load) {
  try {
    const NodeCase node_case = load();
    const auto outputs = run_case(node_case);
    if (outputs.size() != node_case.outputs.size()) {
      return std::to_string(outputs.size()) + " outputs, expected " +
             std::to_string(node_case.outputs.size());
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string why = difference(node_case.outputs[i]->view(), outputs[i]->view());
      if (!why.empty()) return "output " + std::to_string(i) + ": " + why;
    }
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// One case of a set that Debian packages: its name, behind the set's.
using SetAndName = std::pair<std::string, std::string>;

/// Of a case whose sizes are open.
void expect_open(const std::string& name, const std::function<NodeCase()>& load) {
  const std::string failure = failure_of(load);
  const auto excluded = open_exclusions().find(name);
  if (excluded == open_exclusions().end()) {
    EXPECT_EQ(failure, "");
    return;
  }
  ASSERT_NE(failure, "") << "it passes now: take it off excluded_open.txt (" << excluded->second
                         << ")";
  GTEST_SKIP() << excluded->second;
}

class NodeTest : public testing::TestWithParam<SetAndName> {};

TEST_P(NodeTest, GivesWhatOnnxExpects) {
  const auto& [set, name] = GetParam();
  const auto failure = [&] { return failure_of([&] { return load_node_case(set, name); }); };
  const auto excluded = exclusions().find(name);
  if (excluded == exclusions().end()) {
    EXPECT_EQ(failure(), "");
    return;
  }
  const std::string& reason = excluded->second;
  if (!reason.starts_with(kRandom)) {
    ASSERT_NE(failure(), "") << "it passes now: take it off excluded.txt (" << reason << ")";
  }
  GTEST_SKIP() << reason;
}

std::vector<SetAndName> cases_of(const std::string& set) {
  std::vector<SetAndName> cases;
  for (std::string& name : case_names(set)) cases.emplace_back(set, std::move(name));
  return cases;
}

std::vector<SetAndName> all_cases() {
  std::vector<SetAndName> cases = cases_of(kNodeSet);
  for (const char* set : kModelSets) {
    if (is_newer_onnx() && !std::filesystem::exists(case_directory(set))) continue;
    for (SetAndName& each : cases_of(set)) cases.push_back(std::move(each));
  }
  return cases;
}

std::vector<SetAndName> cases_or_none() {
  try {
    return all_cases();
  } catch (const Error&) {
    return {};  // NodeTests.AreInstalled says so
  }
}

/// The same of models whose inputs' sizes are known when they run.
class OpenNodeTest : public testing::TestWithParam<SetAndName> {};

TEST_P(OpenNodeTest, GivesWhatOnnxExpects) {
  const auto& [set, name] = GetParam();
  if (const auto excluded = exclusions().find(name); excluded != exclusions().end())
    GTEST_SKIP() << excluded->second;
  const tests::TempDir directory;
  expect_open(name,
              [&] { return opened(load_node_case(set, name), directory.path() / "open.onnx"); });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpenNodeTest);
INSTANTIATE_TEST_SUITE_P(Onnx, OpenNodeTest,
                         testing::ValuesIn(is_newer_onnx() ? std::vector<SetAndName>{}
                                                           : cases_or_none()),
                         [](const auto& param) { return param.param.second; });

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NodeTest);
INSTANTIATE_TEST_SUITE_P(Onnx, NodeTest, testing::ValuesIn(cases_or_none()),
                         [](const auto& param) { return param.param.second; });

class OwnCase : public testing::TestWithParam<std::string> {};

TEST_P(OwnCase, GivesWhatItsDocumentationSays) {
  const tests::TempDir directory;
  EXPECT_EQ(failure_of([&] { return load_own_case(GetParam(), directory.path()); }), "");
}

INSTANTIATE_TEST_SUITE_P(Own, OwnCase, testing::ValuesIn(own_case_names()),
                         [](const auto& param) { return param.param; });

class OpenOwnCase : public testing::TestWithParam<std::string> {};

TEST_P(OpenOwnCase, GivesWhatItsDocumentationSays) {
  const tests::TempDir directory;
  expect_open(GetParam(), [&] {
    return opened(load_own_case(GetParam(), directory.path()), directory.path() / "open.onnx");
  });
}

INSTANTIATE_TEST_SUITE_P(Own, OpenOwnCase, testing::ValuesIn(own_case_names()),
                         [](const auto& param) { return param.param; });

TEST(NodeTests, AreInstalled) {
  EXPECT_NO_THROW(all_cases());
}

TEST(NodeTests, ExclusionsNameOnlyCasesThatExist) {
  std::set<std::string> names;
  for (const std::string& name : own_case_names()) names.insert(name);
  for (const auto& [set, name] : all_cases())
    EXPECT_TRUE(names.insert(name).second) << name << " is in two sets";
  for (const auto* list : {&exclusions(), &open_exclusions()})
    for (const auto& [name, reason] : *list)
      EXPECT_TRUE(names.contains(name) || is_newer_onnx()) << name;
}

TEST(NodeTests, AtLeast96OfAHundredPass) {
  const std::vector<std::string> names = case_names(kNodeSet);
  const auto passing = static_cast<double>(std::ranges::count_if(
      names, [](const std::string& name) { return !exclusions().contains(name); }));
  std::printf("%.0f of %zu node cases pass: %.1f%%\n", passing, names.size(),
              100 * passing / static_cast<double>(names.size()));
  EXPECT_GE(passing, 0.96 * static_cast<double>(names.size()));
}

}  // namespace
}  // namespace aoe::conformance
