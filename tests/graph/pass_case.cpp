#include "tests/graph/pass_case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "base/file.h"
#include "graph/passes.h"
#include "graph/verify.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {

using graph::Graph;
using graph::Pass;

namespace {

const Pass& pass_named(const std::vector<Pass>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Pass::name);
  if (found == all.end()) throw std::logic_error("there is no pass " + name);
  return *found;
}

}  // namespace

void PrintTo(const PassCase& c, std::ostream* out) {
  *out << c.name;
}

TEST_P(EachPass, LeavesTheGoldenTextAndKeepsTheMeaning) {
  const PassCase& c = GetParam();
  const Graph before = import_text(c.model, c.opset);
  Graph after = before;
  const std::vector<Pass>& all = graph::passes();
  std::istringstream names(c.pass);
  std::string pass;
  while (names >> pass) {
    pass_named(all, pass).run(after);
    graph::verify(after, pass.c_str());
  }
  after.compact();
  const std::filesystem::path golden =
      std::filesystem::path(AOE_TEST_DIR) / "golden" / (std::string(c.name) + ".txt");
  if (std::getenv("AOE_UPDATE_GOLDEN") != nullptr) write_file_atomically(golden, after.to_text());
  EXPECT_EQ(after.to_text(), read_file(golden, ExitCode::kData));
  expect_same_outputs(before, after, 1);

  Graph again = after;
  EXPECT_FALSE(pass_named(all, pass).run(again)) << "a second run finds more to do";
}

std::string name_of_case(const testing::TestParamInfo<PassCase>& tested) {
  return tested.param.name;
}

}  // namespace aoe::tests
