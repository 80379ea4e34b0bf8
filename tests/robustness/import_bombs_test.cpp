// Import bombs are refused in one line, or imported and simplified, before much time and memory is gone. AOE_BOMB_BYTES=n makes larger
// files, AOE_KEEP_BOMBS=DIR writes them there: atc takes them.
#include "tests/robustness/import_bombs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"
#include "tests/robustness/crash_note.h"

namespace aoe::tests {
namespace {

constexpr unsigned kBombSeconds = 600;  ///< the largest take some seconds on a quiet machine

std::size_t bytes_wanted() {
  const char* const given = std::getenv("AOE_BOMB_BYTES");
  return given == nullptr ? 100'000 : std::strtoul(given, nullptr, 10);
}

/// Of the processor: what else it does counts for nothing.
class Seconds {
 public:
  double next() {
    const std::clock_t now = std::clock();
    return static_cast<double>(now - std::exchange(since_, now)) / CLOCKS_PER_SEC;
  }

 private:
  std::clock_t since_ = std::clock();
};

void import(const std::string& bytes) {
  Seconds seconds;
  std::string stage = "import";
  try {
    graph::Graph graph = graph::import_onnx(graph::OnnxBytes{bytes, "bomb.onnx"}, {});
    std::cout << "  imported in " << seconds.next() << " s, " << graph.nodes.size() << " nodes"
              << std::endl;
    stage = "passes";
    graph::run_passes(graph, {});
    std::cout << "  passed in " << seconds.next() << " s, " << graph.nodes.size() << " nodes"
              << std::endl;
  } catch (const Error& error) {
    const std::string what = error.what();
    std::cout << "  " << stage << ": refused in " << seconds.next() << " s: " << what.substr(0, 200)
              << std::endl;
    EXPECT_EQ(error.code(), ExitCode::kModel);
    EXPECT_EQ(what.find('\n'), std::string::npos);
    EXPECT_LT(what.size(), 25'000u);
  } catch (const OutOfMemory& error) {
    std::cout << "  " << stage << ": too large for this machine: " << error.what() << std::endl;
  } catch (const std::exception& error) {
    ADD_FAILURE() << stage << ": " << error.what();
  }
}

void import_all(const std::vector<Bomb>& bombs) {
  const char* const kept = std::getenv("AOE_KEEP_BOMBS");
  const char* const only = std::getenv("AOE_BOMB");
  for (const Bomb& bomb : bombs) {
    if (only != nullptr && bomb.name != only) continue;
    SCOPED_TRACE(bomb.name);
    note_for_crash(bomb.name, kBombSeconds);
    const std::string bytes = bomb.make(bytes_wanted()).SerializeAsString();
    std::cout << bomb.name << ": " << bytes.size() << " bytes" << std::endl;
    if (kept != nullptr)
      write_file_atomically(std::filesystem::path(kept) / (bomb.name + ".onnx"), bytes);
    else
      import(bytes);
  }
  note_for_crash("behind the bombs", 0);
}

TEST(ImportBombs, Graphs) {
  import_all(graph_bombs());
}
TEST(ImportBombs, Bodies) {
  import_all(body_bombs());
}
TEST(ImportBombs, Texts) {
  import_all(text_bombs());
}
TEST(ImportBombs, Constants) {
  import_all(constant_bombs());
}

}  // namespace
}  // namespace aoe::tests
