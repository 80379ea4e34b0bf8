// A process of its own that commits: bank_writer DIRECTORY FIRST COUNT commits tasks
// FIRST..FIRST+COUNT-1, one commit each, and writes each number to stdout as its commit returns.
// Exit 1: a commit could not be read back at once. bank_writer DIRECTORY read writes how many tasks
// the bank has. Exit 5: an Error of the bank.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "tests/bank/bank_fixture.h"

namespace {
using namespace aoe::bank;

bool tell(int number) {
  return ::write(STDOUT_FILENO, &number, sizeof number) == sizeof number;
}

int run(int argc, char** argv) {
  if (argc == 3)
    return tell(static_cast<int>(KnowledgeBank(argv[1], {kTestSoc}).entries().size())) ? 0 : 2;
  if (argc != 4) return 2;
  const int first = std::atoi(argv[2]);
  const int count = std::atoi(argv[3]);
  KnowledgeBank bank(argv[1], {kTestSoc});
  for (int task = first; task < first + count; ++task) {
    const TaskKey key = test_key(task);
    bank.commit({{{key, test_strategy("ND", 5)}}, {{key, {test_strategy("ND", 5), "ok", "", 1}}}});
    if (!KnowledgeBank(argv[1], {kTestSoc}).find(key)) return 1;
    if (!tell(task)) return 2;
  }
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const aoe::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
}
