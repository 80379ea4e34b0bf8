// bank_bench: what a large bank costs: lookups beside those of bare RocksDB, by one thread and by all; opening; the commit of one
// task's result; merging two banks.
#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "bank/merge_banks.h"
#include "bank/snapshots.h"
#include "bank/values.h"
#include "base/check.h"
#include "base/statistics.h"
#include "tests/temp_dir.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"

namespace aoe::benchmarks {
namespace {
namespace fs = std::filesystem;

constexpr const char* kSoc = "x86_64-bench-2t";
constexpr std::size_t kBatch = 20'000;  ///< tasks of a commit that fills

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A convolution as task_of() describes one, which no other number has.
bank::TaskKey key_of(std::size_t number) {
  return {
      fmt::format(
          R"({{"attrs":{{"dilations":[1,1],"group":1,"pads":[1,1,1,1],"strides":[1,1]}},"epilogue":[{{"inputs":[0,1,2],"type":"Add"}},{{"inputs":[3],"type":"Relu"}}],"inputs":[{{"dtype":"float32","format":"NCHW","shape":[1,{},56,56]}},{{"constant":true,"dtype":"float32","shape":[64,{},3,3]}},{{"constant":true,"dtype":"float32","shape":[64]}}],"op":"Conv2D","outputs":[{{"dtype":"float32","shape":[1,64,56,56]}}],"version":1}})",
          number, number),
      kSoc};
}

bank::Strategy strategy_of(std::size_t number, double time_ns) {
  const bank::SampleSummary samples{time_ns, time_ns / 50, 40};
  return {
      .format = "NC1HWC0",
      .impl = "direct",
      .impl_version = 3,
      .schedule = {{"ic_block", 64},
                   {"oc_vectors", 2},
                   {"oh_block", 4},
                   {"ow_block", 14},
                   {"parallel", 1},
                   {"unroll", 2}},
      .measured = {time_ns, time_ns * 1.2, "faster", "default 1", 2, 64, "2026-01-01T00:00:00Z"},
      .provenance = {.engine = "0.1.0",
                     .llvm = "19.1.7",
                     .onednn = "2.6.3",
                     .cpu = "AMD EPYC 9R45",
                     .microcode = "0xb002116",
                     .kernel = "6.1.0-18-amd64",
                     .model = "resnet50",
                     .node = fmt::format("/layer{}/conv2/Conv", number % 100),
                     .seed = number,
                     .won = samples,
                     .by_default = samples}};
}

/// Tasks first, first + step, ... below end.
void fill(const fs::path& directory, std::size_t first, std::size_t end, double time_ns) {
  bank::KnowledgeBank bank(directory, {.soc_version = kSoc});
  for (std::size_t begin = first; begin < end; begin += kBatch) {
    bank::Commit commit;
    for (std::size_t i = begin; i < std::min(begin + kBatch, end); ++i)
      commit.strategies.push_back({key_of(i), strategy_of(i, time_ns)});
    bank.commit(commit);
  }
}

/// RocksDB over the newest snapshot, with the same filters and as large a cache.
class BareRocks {
 public:
  explicit BareRocks(const fs::path& bank) {
    const std::string snapshot = bank::list_snapshots(bank).rbegin()->second.string();
    std::vector<std::string> names;
    require(rocksdb::DB::ListColumnFamilies({}, snapshot, &names));
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_cache = rocksdb::NewLRUCache(std::size_t{32} << 20);
    rocksdb::ColumnFamilyOptions family;
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, family);
    rocksdb::DBOptions options;
    options.max_open_files = -1;
    rocksdb::DB* db = nullptr;
    require(rocksdb::DB::OpenForReadOnly(options, snapshot, families, &handles_, &db));
    db_.reset(db);
  }
  ~BareRocks() {
    for (rocksdb::ColumnFamilyHandle* each : handles_) db_->DestroyColumnFamilyHandle(each);
  }
  BareRocks(const BareRocks&) = delete;
  BareRocks& operator=(const BareRocks&) = delete;

  bool has(const bank::TaskKey& key) const {
    rocksdb::PinnableSlice value;
    return db_->Get({}, strategies(), bank::digest_bytes(key.digest()), &value).ok();
  }

 private:
  static void require(const rocksdb::Status& status) { AOE_CHECK(status.ok(), status.ToString()); }
  rocksdb::ColumnFamilyHandle* strategies() const {
    for (rocksdb::ColumnFamilyHandle* each : handles_)
      if (each->GetName() == "strategy") return each;
    AOE_CHECK(false, "no strategies");
  }
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

/// Microseconds of one of `count` lookups of known tasks, drawn at random, by each of `threads`.
double lookup_us(std::size_t tasks, std::size_t count, int threads, const auto& is_found) {
  std::atomic<std::size_t> missing = 0;
  const auto look = [&](int thread) {
    std::mt19937_64 random(static_cast<std::uint64_t>(thread) + 1);
    for (std::size_t i = 0; i < count; ++i)
      if (!is_found(key_of(random() % tasks))) ++missing;
  };
  const double seconds = seconds_of([&] {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(look, i);
  });
  AOE_CHECK(missing == 0, "a task is not found");
  return seconds * 1e6 / static_cast<double>(count);
}

/// What making a key costs, which a compiler has made anyway.
double key_us(std::size_t tasks, std::size_t count) {
  return lookup_us(tasks, count, 1,
                   [](const bank::TaskKey& key) { return !key.description.empty(); });
}

void bench_lookups(const fs::path& directory, std::size_t tasks, std::size_t count, int rounds) {
  const bank::KnowledgeBank bank(directory, {.soc_version = kSoc, .read_only = true});
  const BareRocks rocks(directory);
  const auto ours = [&](const bank::TaskKey& key) { return bank.find(key).has_value(); };
  const auto bare = [&](const bank::TaskKey& key) { return rocks.has(key); };
  std::vector<double> ours_us, bare_us, ratios, all_us;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int round = 0; round < rounds; ++round) {
    const double key = key_us(tasks, count);
    ours_us.push_back(lookup_us(tasks, count, 1, ours) - key);
    bare_us.push_back(lookup_us(tasks, count, 1, bare) - key);
    ratios.push_back(ours_us.back() / bare_us.back());
    all_us.push_back(lookup_us(tasks, count, cores, ours) - key);
  }
  fmt::print("lookup                 {:10.2f} us\n", median(ours_us));
  fmt::print("lookup, bare RocksDB   {:10.2f} us, ours is {:.2f} of it\n", median(bare_us),
             median(ratios));
  fmt::print("lookup, {:3} threads    {:10.2f} us each\n", cores, median(all_us));
}

void bench_opening(const fs::path& directory, std::size_t tasks, int rounds) {
  std::vector<double> ms;
  for (int round = 0; round < rounds; ++round)
    ms.push_back(1e3 * seconds_of([&] {
                   const bank::KnowledgeBank bank(directory,
                                                  {.soc_version = kSoc, .read_only = true});
                   AOE_CHECK(bank.find(key_of(tasks / 2)), "a task is not found");
                 }));
  fmt::print("opening, first lookup  {:10.2f} ms\n", median(ms));
}

/// What a bank adds to a compilation: it is opened, and asked more often than a ResNet-50 has operators.
void bench_consulting(const fs::path& directory, std::size_t tasks, int rounds) {
  constexpr std::size_t kAsked = 100;
  std::vector<double> ms;
  std::mt19937_64 random(7);
  for (int round = 0; round < rounds; ++round)
    ms.push_back(1e3 * seconds_of([&] {
                   const bank::KnowledgeBank bank(directory,
                                                  {.soc_version = kSoc, .read_only = true});
                   for (std::size_t i = 0; i < kAsked; ++i)
                     AOE_CHECK(bank.find(key_of(random() % tasks)), "a task is not found");
                 }));
  fmt::print("opening, {} lookups   {:10.2f} ms\n", kAsked, median(ms));
}

void bench_commits(const fs::path& directory, std::size_t tasks, int rounds) {
  bank::KnowledgeBank bank(directory, {.soc_version = kSoc});
  std::vector<double> ms;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t number = tasks + static_cast<std::size_t>(round);
    bank::Commit commit{.strategies = {{key_of(number), strategy_of(number, 1000)}}, .records = {}};
    for (int i = 0; i < 64; ++i)
      commit.records.push_back({key_of(number), {.strategy = strategy_of(number, 1000 + i)}});
    ms.push_back(1e3 * seconds_of([&] { bank.commit(commit); }));
  }
  fmt::print("commit of one task     {:10.2f} ms, the slowest {:.2f}\n", median(ms),
             std::ranges::max(ms));
}

/// As aoe_bank merge does. Of both together there are half as many tasks again.
void bench_merge(const fs::path& first, const fs::path& second, const fs::path& root,
                 std::size_t tasks) {
  std::map<bank::BankId, bank::MergedBank> merged;
  const double seconds = seconds_of([&] { merged = bank::merge_banks({first, second}, root); });
  AOE_CHECK(merged.size() == 1 && merged.begin()->second.tasks == tasks + tasks / 2,
            "the merged bank has not all tasks");
  fmt::print("merge of two           {:10.0f} strategies/s, {} conflicts\n",
             2 * static_cast<double>(tasks) / seconds, merged.begin()->second.conflicts.size());
}

ExitCode run(const tools::po::variables_map& flags) {
  const auto tasks = static_cast<std::size_t>(flags["strategies"].as<int>());
  const auto lookups = static_cast<std::size_t>(flags["lookups"].as<int>());
  const int rounds = flags["rounds"].as<int>();
  if (flags["strategies"].as<int>() < 2 || flags["lookups"].as<int>() < 1 || rounds < 1)
    throw Error(ExitCode::kUsage, "--strategies, --lookups and --rounds are positive numbers");
  const tests::TempDir temp;
  const fs::path first = temp / "first/op" / kSoc, second = temp / "second/op" / kSoc;
  const double seconds = seconds_of([&] { fill(first, 0, tasks, 1000); });
  fmt::print("{} strategies, filled with {:.0f} strategies/s\n", tasks,
             static_cast<double>(tasks) / seconds);
  bench_opening(first, tasks, rounds);
  bench_consulting(first, tasks, rounds);
  bench_lookups(first, tasks, lookups, rounds);
  fill(second, tasks / 2, tasks + tasks / 2, 900);  // half of them stand in both
  bench_merge(first, second, temp / "merged", tasks);
  bench_commits(first, 2 * tasks, rounds);
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::benchmarks

int main(int argc, char** argv) {
  using namespace aoe::tools;
  Tool tool{.name = "bank_bench",
            .synopsis = "bank_bench [flags]",
            .summary =
                "What a large bank costs: lookups beside bare RocksDB, opening, the commit of one "
                "task, merging.",
            .examples = "  bank_bench --strategies=1000000\n"};
  auto add = tool.flags.add_options();
  add("strategies", number_or(1'000'000, "N"), "of each bank");
  add("lookups", number_or(100'000, "N"), "in each round, by each thread");
  add("rounds", number_or(15, "N"), "of each figure but the merge");
  tool.run = aoe::benchmarks::run;
  return run_tool(argc, argv, std::move(tool));
}
