// Every ONNX node test, and every case of our own, through the real path. Those in excluded.txt must fail: one that passes is to be taken off it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>

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
std::map<std::string, std::string> read_exclusions() {
  const std::string path = AOE_TEST_DIR "/excluded.txt";
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
  static const auto read = read_exclusions();
  return read;
}

/// Empty when the case passes, otherwise what went wrong.
std::string failure_of(const std::function<NodeCase()>& load) {
  try {
    const NodeCase node_case = load();
    const auto outputs = run_model(node_case.model, node_case.inputs);
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

std::string failure_of(const std::string& name) {
  return failure_of([&] { return load_node_case(name); });
}

class NodeTest : public testing::TestWithParam<std::string> {};

TEST_P(NodeTest, GivesWhatOnnxExpects) {
  const auto excluded = exclusions().find(GetParam());
  if (excluded == exclusions().end()) {
    EXPECT_EQ(failure_of(GetParam()), "");
    return;
  }
  const std::string& reason = excluded->second;
  if (!reason.starts_with(kRandom)) {
    ASSERT_NE(failure_of(GetParam()), "")
        << "it passes now: take it off excluded.txt (" << reason << ")";
  }
  GTEST_SKIP() << reason;
}

std::vector<std::string> names_or_none() {
  try {
    return node_case_names();
  } catch (const Error&) {
    return {};  // NodeTests.AreInstalled says so
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NodeTest);
INSTANTIATE_TEST_SUITE_P(Onnx, NodeTest, testing::ValuesIn(names_or_none()),
                         [](const auto& param) { return param.param; });

class OwnCase : public testing::TestWithParam<std::string> {};

TEST_P(OwnCase, GivesWhatItsDocumentationSays) {
  const tests::TempDir directory;
  EXPECT_EQ(failure_of([&] { return load_own_case(GetParam(), directory.path()); }), "");
}

INSTANTIATE_TEST_SUITE_P(Own, OwnCase, testing::ValuesIn(own_case_names()),
                         [](const auto& param) { return param.param; });

TEST(NodeTests, AreInstalled) {
  EXPECT_NO_THROW(node_case_names());
}

TEST(NodeTests, ExclusionsNameOnlyCasesThatExist) {
  const auto names = node_case_names();
  for (const auto& [name, reason] : exclusions()) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

}  // namespace
}  // namespace aoe::conformance
