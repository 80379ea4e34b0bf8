// A process of its own that commits: bank_writer DIRECTORY FIRST COUNT commits tasks
// FIRST..FIRST+COUNT-1, one commit each, and writes each number to stdout as its commit returns.
// Exit 1: a commit could not be read back at once.
#include <unistd.h>

#include <cstdlib>

#include "tests/bank/bank_fixture.h"

int main(int argc, char** argv) {
  using namespace aoe::bank;
  if (argc != 4) return 2;
  const int first = std::atoi(argv[2]);
  const int count = std::atoi(argv[3]);
  KnowledgeBank bank(argv[1], {kTestSoc});
  for (int task = first; task < first + count; ++task) {
    const TaskKey key = test_key(task);
    bank.commit({{{key, test_strategy("ND", 5)}}, {{key, {test_strategy("ND", 5), "ok", "", 1}}}});
    if (!KnowledgeBank(argv[1], {kTestSoc}).find(key)) return 1;
    if (::write(STDOUT_FILENO, &task, sizeof task) != sizeof task) return 2;
  }
  return 0;
}
