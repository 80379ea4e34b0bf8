// The parts of a collection, with injected readings: counters, metric groups, system samples, options, directories.
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.h"
#include "profiler/collect/acl_config.h"
#include "profiler/collect/collection.h"
#include "profiler/collect/metric_groups.h"
#include "profiler/collect/option_keys.h"
#include "profiler/collect/option_values.h"
#include "profiler/collect/perf_counters.h"
#include "profiler/collect/system_sampler.h"
#include "tests/profiler/raw_memory.h"
#include "tests/temp_dir.h"

namespace aoe::profiler {
namespace {

namespace fs = std::filesystem;
using tests::RawMemory;

// ---- counters ----

TEST(CorrectedCount, IsTheDifferenceWhenTheCounterRanAllTheTime) {
  EXPECT_EQ(corrected_count({100, 1000, 1000}, {350, 3000, 3000}), 250u);
  EXPECT_EQ(corrected_count({100, 1000, 700}, {350, 3000, 2700}), 250u);  // only before was it out
}

TEST(CorrectedCount, IsScaledUpWhenTheCounterRanInTurns) {
  // Ran for 500 of 2000 ns: what it saw stands for four times as much.
  EXPECT_EQ(corrected_count({100, 1000, 1000}, {350, 3000, 1500}), 1000u);
  EXPECT_EQ(corrected_count({0, 0, 0}, {3, 3, 2}), 4u);  // 4.5, cut
}

TEST(CorrectedCount, IsNothingWhenTheCounterDidNotRun) {
  EXPECT_EQ(corrected_count({100, 1000, 800}, {100, 3000, 800}), 0u);
}

TEST(CorrectedCount, SurvivesTheWrapOfTheCounter) {
  EXPECT_EQ(corrected_count({~std::uint64_t{0} - 4, 10, 10}, {5, 20, 20}), 10u);
}

TEST(PerfCounters, CountWhatTheThreadDoes) {
  // A software event, which virtual machines have too.
  const PerfEvent faults{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
  const auto counters = PerfCounters::open(std::span(&faults, 1));
  if (!counters) GTEST_SKIP() << counters.error();
  CounterReadings before{};
  CounterReadings after{};
  (*counters)->read(before);
  constexpr std::size_t kPages = 64;
  const std::unique_ptr<volatile char[]> memory(new char[kPages * 4096 * 256]);  // fresh pages
  for (std::size_t i = 0; i < kPages; ++i) memory[i * 4096 * 256] = 1;
  (*counters)->read(after);
  EXPECT_GE(corrected_count(before[0], after[0]), 1u);
  // With AddressSanitizer the pages of its shadow come on top: an eighth of the memory.
  EXPECT_LE(corrected_count(before[0], after[0]), 100 * kPages);
}

TEST(PerfCounters, SayWhichEventIsNotToBeHad) {
  const PerfEvent nonsense{"nonsense", 0x7fffffff, 1};
  const auto counters = PerfCounters::open(std::span(&nonsense, 1));
  ASSERT_FALSE(counters);
  EXPECT_NE(counters.error().find("nonsense"), std::string::npos);
}

// ---- metric groups ----

TEST(MetricGroups, AreThoseOfTheReferenceInItsOrder) {
  std::vector<std::string> names;
  for (const MetricGroup& group : metric_groups()) names.push_back(group.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"ArithmeticUtilization", "PipeUtilization", "Memory",
                                      "MemoryL0", "ResourceConflictRatio", "MemoryUB", "L2Cache",
                                      "PipelineExecuteUtilization", "MemoryAccess"}));
}

TEST(MetricGroups, FitIntoTheCountersOfATask) {
  for (const MetricGroup& group : metric_groups()) {
    EXPECT_LE(group.counters.size(), kMostCounters) << group.name;
    EXPECT_STREQ(group.counters.front().name, "cycles") << group.name;
    std::set<std::string> names;
    for (const GroupCounter& counter : group.counters)
      EXPECT_TRUE(names.insert(counter.name).second) << counter.name << " twice";
    const auto events = perf_events_of(group.name);
    ASSERT_TRUE(events) << events.error();
    for (const PerfEvent& event : *events) EXPECT_TRUE(names.contains(event.name));
  }
}

TEST(MetricGroups, CustomTakesUpToEightCodes) {
  const auto events = perf_events_of("Custom:0x49,0x8,12");
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].type, PERF_TYPE_RAW);
  EXPECT_EQ((*events)[0].config, 0x49u);
  EXPECT_EQ((*events)[2].config, 12u);
  EXPECT_TRUE(perf_events_of("Custom:1,2,3,4,5,6,7,8"));
  for (const char* flawed :
       {"Custom:1,2,3,4,5,6,7,8,9", "Custom:", "Custom:0x", "Custom:1,", "Custom:g", "Cache"}) {
    EXPECT_FALSE(perf_events_of(flawed)) << flawed;
    EXPECT_NE(flaw_of_metrics(flawed), "") << flawed;
  }
  EXPECT_EQ(flaw_of_metrics("L2Cache"), "");
}

// ---- system data ----

std::map<std::string, double> by_name(const std::vector<RawSample>& samples) {
  std::map<std::string, double> values;
  for (const RawSample& sample : samples) values[name_of(sample.series)] = sample.value;
  return values;
}

TEST(SystemSampler, SharesAreThoseBetweenTwoSamples) {
  SystemSampler sampler({.system_cpu = true, .process_cpu = true});
  const auto stat = [](int busy, int idle) {
    return "cpu 1 2 3 4 5 6 7 8 0 0\ncpu0 " + std::to_string(busy) + " 0 0 " +
           std::to_string(idle) + " 0 0 0 0 0 0\nintr 5\n";
  };
  const auto process = [](int user, int system) {
    return "77 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 " + std::to_string(user) + " " +
           std::to_string(system) + " 0 0\n";
  };
  EXPECT_TRUE(
      sampler.sample(1'000'000'000, {.stat = stat(100, 100), .process_stat = process(10, 0)})
          .empty());
  const auto values = by_name(
      sampler.sample(3'000'000'000, {.stat = stat(130, 170), .process_stat = process(90, 20)}));
  ASSERT_EQ(values.size(), 2u);
  EXPECT_DOUBLE_EQ(values.at("system cpu0 (%)"), 30);
  const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(values.at("process cpu (%)"), 100 * (100 / ticks_per_s) / 2);
}

TEST(SystemSampler, MemoryIsInKilobytes) {
  SystemSampler sampler({.system_memory = true, .process_memory = true});
  const auto values = by_name(
      sampler.sample(1, {.meminfo = "MemTotal:   1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\n",
                         .process_status = "Name: x\nVmRSS:\t  321 kB\n"}));
  EXPECT_DOUBLE_EQ(values.at("system memory used (KB)"), 600);
  EXPECT_DOUBLE_EQ(values.at("process memory (KB)"), 321);
}

TEST(SystemSampler, ReadsTheRealFiles) {
  const SystemSampling all{true, true, true, true};
  SystemSampler sampler(all);
  sampler.sample(1, read_proc(all));
  const auto values = by_name(sampler.sample(2'000'000'000, read_proc(all)));
  EXPECT_GT(values.at("system memory used (KB)"), 0);
  EXPECT_GT(values.at("process memory (KB)"), 0);
  EXPECT_TRUE(values.contains("process cpu (%)"));
}

TEST(SystemSampler, TornFilesGiveNothing) {
  SystemSampler sampler({true, true, true, true});
  for (const char* text : {"", "cpu", "cpu0", "1 (x", "1 (x) S 1", "MemTotal:", "VmRSS:"})
    for (int i = 0; i < 2; ++i) sampler.sample(i, {text, text, text, text});
  SUCCEED();
}

// ---- options ----

TEST(CollectOptions, ComeBackFromJson) {
  CollectOptions options;
  options.generation = Generation::kJob;
  options.output = "/somewhere";
  options.acl_api = false;
  options.runtime_api = true;
  options.task_time = TaskTime::kL0;
  options.aicpu = true;
  options.task_memory = false;
  options.msproftx = true;
  options.training_trace = false;
  options.fp_point = "first";
  options.bp_point = "last";
  options.aic_metrics = "Memory";
  options.ai_core = true;
  options.interval = 3;
  options.storage_limit_bytes = 300 << 20;
  options.system = {.system_cpu = true, .process_cpu = true, .process_hz = 12, .pid = 99};
  options.delay_s = 1.5;
  options.duration_s = 2.5;
  options.session = "s";
  const nlohmann::json json = to_json(options);
  EXPECT_EQ(to_json(options_from_json(json)), json);
  for (const auto& [key, value] : json.items()) {
    nlohmann::json flawed = json;
    flawed.erase(key);
    EXPECT_THROW(options_from_json(flawed), Error) << key;
  }
}

TEST(CollectOptions, HaveOneRowForEachFront) {
  for (unsigned front = 1; front <= kSs928; front *= 2)
    for (const OptionKey& key : option_keys()) {
      if ((key.fronts & front) == 0) continue;
      EXPECT_EQ(find_option_key(key.name, front), &key) << key.name << " stands twice";
    }
}

/// "l0|l1|on|off" of --help against "use on, off, l0, l1" of the refusal.
TEST(CollectOptions, HelpNamesTheWordsThatAreTaken) {
  const auto words_of = [](std::string text) {
    for (char& letter : text)
      if (letter == '|' || letter == ',') letter = ' ';
    std::istringstream in(text);
    return std::set<std::string>(std::istream_iterator<std::string>(in), {});
  };
  for (const OptionKey& key : option_keys()) {
    if (std::string_view(key.values).find('|') == std::string_view::npos) continue;
    CollectOptions options = default_options(kMsprof);
    std::vector<std::string> unused;
    try {
      key.apply(options, {key.name, "no such word"}, unused);
      ADD_FAILURE() << key.name << " takes anything";
    } catch (const Error& error) {
      ASSERT_TRUE(error.advice().starts_with("use ")) << key.name << ": " << error.what();
      EXPECT_EQ(words_of(error.advice().substr(4)), words_of(key.values)) << key.name;
    }
  }
}

TEST(CollectOptions, TheHighestRateServesAll) {
  CollectOptions options = default_options(kMsprof);
  std::vector<std::string> unused;
  const auto give = [&](const char* name, const char* value) {
    find_option_key(name, kMsprof)->apply(options, {name, value}, unused);
  };
  EXPECT_EQ(options.system.frequency_hz(), 50);
  give("sys_sampling_freq", "10");
  give("sys_pid_sampling_freq", "3");
  EXPECT_EQ(options.system.frequency_hz(), 10);
  EXPECT_FALSE(options.system.any()) << "a rate alone asks for nothing";
  give("host_sys_usage_freq", "20");
  give("host_sys_usage_freq", "5");
  EXPECT_EQ(options.system.frequency_hz(), 10) << "the last word of each";
  EXPECT_THROW(give("sys_sampling_freq", "11"), Error);
}

TEST(CollectOptions, CountersAreReadWithAllOfTaskTimeOrWhereAGroupIsNamed) {
  const auto counted = [](std::initializer_list<std::pair<const char*, const char*>> given) {
    CollectOptions options = default_options(kMsprof);
    std::vector<std::string> unused;
    for (const auto& [name, value] : given)
      find_option_key(name, kMsprof)->apply(options, {name, value}, unused);
    return counted_metrics(options);
  };
  EXPECT_EQ(counted({}), "PipeUtilization");
  EXPECT_EQ(counted({{"task_time", "l0"}}), "");
  EXPECT_EQ(counted({{"task_time", "l0"}, {"ai_core", "on"}}), "PipeUtilization");
  EXPECT_EQ(counted({{"task_time", "l0"}, {"aic_metrics", "Memory"}}), "Memory");
  EXPECT_EQ(counted({{"aic_metrics", "Memory"}, {"ai_core", "off"}}), "");
  EXPECT_EQ(counted({{"ai_core", "off"}, {"aic_metrics", "Memory"}}), "");
  EXPECT_EQ(counted({{"task_time", "off"}, {"ai_core", "on"}}), "") << "there are no ops";
}

TEST(CollectOptions, BeginAsTheDocumentsSay) {
  EXPECT_TRUE(default_options(kMsprof).task_memory);
  EXPECT_FALSE(default_options(kMsprof).runtime_api);
  EXPECT_FALSE(default_options(kAclJson).task_memory);
  EXPECT_TRUE(default_options(kAclJson).runtime_api);
  EXPECT_FALSE(default_options(kProfilingOptions).task_memory);
  EXPECT_FALSE(default_options(kConfigBits).acl_api);
  EXPECT_EQ(default_options(kConfigBits).task_time, TaskTime::kOff);
  EXPECT_EQ(default_options(kSs928).generation, Generation::kJob);
}

/// A name that no front lets through, as a collection of another version could hand over.
TEST(Collection, GoesOnWithoutCountersThatItDoesNotKnow) {
  const aoe::tests::TempDir temp;
  CollectOptions options{.output = temp.path()};
  options.aic_metrics = "OfAnotherProcessor";
  Collection collection(options);
  collection.stop();
  EXPECT_TRUE(fs::exists(collection.directory()));
}

TEST(CollectOptions, StorageLimits) {
  EXPECT_EQ(storage_limit({"x", "200MB"}), std::uint64_t{200} << 20);
  EXPECT_EQ(storage_limit({"x", "4294967295MB"}), std::uint64_t{4294967295} << 20);
  for (const char* flawed : {"199MB", "4294967296MB", "200", "200GB", "MB", "200 MB", "-1MB", ""})
    EXPECT_THROW(storage_limit({"x", flawed}), Error) << flawed;
}

TEST(AclJson, OtherMetricsOfSs928AreNone) {
  const auto metrics_of = [](const nlohmann::json& metrics) {
    return options_from_acl_json({{"switch", "on"}, {"aac_metrics", metrics}})->aic_metrics;
  };
  EXPECT_EQ(metrics_of("ArithmeticUtilization"), "ArithmeticUtilization");
  EXPECT_EQ(metrics_of("PipeUtilization"), "");
}

TEST(AclJson, Ss928GoesBesideTheExecutableWithoutADirectory) {
  const aoe::tests::TempDir temp;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  ::setenv("ASCEND_WORK_PATH", temp.path().c_str(), 1);
  const auto output_of = [](nlohmann::json profiler) {
    profiler["switch"] = "on";
    return options_from_acl_json(profiler)->output;
  };
  EXPECT_EQ(output_of({{"acl_api", "on"}}), here);
  EXPECT_EQ(output_of({{"acl_api", "on"}, {"output", (temp / "missing").string()}}), here);
  EXPECT_EQ(output_of({{"acl_api", "on"}, {"output", temp.path().string()}}), temp.path());
  EXPECT_EQ(output_of({{"ascendcl", "on"}}), temp.path());
  ::unsetenv("ASCEND_WORK_PATH");
  EXPECT_EQ(output_of({{"ascendcl", "on"}}), here);
}

// ---- a collection of this process ----

TEST(Collection, NamesItsDirectoriesAsTheToolingDoes) {
  const aoe::tests::TempDir temp;
  const std::regex prof(R"(PROF_\d{6}_\d{17}_\d{8}[A-R]{8})");
  const std::regex job(R"(JOB\d{17}[A-R]{8})");
  for (int sequence = 1; sequence <= 2; ++sequence) {
    Collection collection({.output = temp.path()});
    const std::string name = collection.directory().filename().string();
    EXPECT_TRUE(std::regex_match(name, prof)) << name;
    EXPECT_TRUE(name.starts_with("PROF_00000" + std::to_string(sequence))) << name;
  }
  Collection collection({.generation = Generation::kJob, .output = temp / "made"});
  const std::string name = collection.directory().filename().string();
  EXPECT_TRUE(std::regex_match(name, job)) << name;
}

TEST(Collection, HoldsEveryEventOfEveryThread) {
  const aoe::tests::TempDir temp;
  constexpr std::uint64_t kThreads = 3;
  constexpr std::uint64_t kEvents = 10'000;
  fs::path directory;
  {
    Collection collection({.output = temp.path()});
    directory = collection.directory();
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([thread] {
        const std::uint32_t name = intern("writer " + std::to_string(thread));
        for (std::uint64_t i = 0; i < kEvents; ++i) {
          const std::uint64_t begin = now_ticks();
          record(EventKind::kApi, name, begin, now_ticks(), i);
        }
      });
    for (std::thread& thread : threads) thread.join();
    collection.stop();
    record(EventKind::kApi, intern("too late"), now_ticks(), now_ticks());
  }
  RawMemory memory;
  EXPECT_TRUE(read_raw(directory, memory).empty());
  std::map<std::string, std::uint64_t> next;
  for (const RawEvent& event : memory.events) {
    EXPECT_LE(event.begin_ns, event.end_ns);
    EXPECT_EQ(event.value, next[memory.strings.at(event.name_id)]++);
  }
  EXPECT_EQ(next.size(), kThreads);
  for (const auto& [name, count] : next) EXPECT_EQ(count, kEvents) << name;
  EXPECT_EQ(memory.threads.size(), kThreads);
}

TEST(Collection, CountersOfTasksComeBackTogether) {
  const aoe::tests::TempDir temp;
  Collection collection({.output = temp.path()});
  const std::uint64_t begin = now_ticks();
  const std::uint64_t task = task_value(3, 0x1001);
  // As TaskCounters records them; the second task has lost its first counter to a full ring.
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    record(EventKind::kCounter, slot, begin, 100 + slot, task);
  for (std::uint32_t slot = 1; slot < 3; ++slot)
    record(EventKind::kCounter, slot, begin + 1'000'000, 999, task_value(4, 0x1001));
  collection.stop();
  RawMemory memory;
  EXPECT_TRUE(read_raw(collection.directory(), memory).empty());
  ASSERT_EQ(memory.counters.size(), 1u);
  EXPECT_EQ(memory.counters[0].op_index, 3u);
  EXPECT_EQ(memory.counters[0].run_and_model, 0x1001u);
  EXPECT_EQ(memory.counters[0].task_begin_ns, to_monotonic_ns(begin));
  EXPECT_EQ(memory.counters[0].values, (std::array<std::uint64_t, 8>{100, 101, 102}));
}

TEST(Collection, LostEventsAreSaid) {
  const aoe::tests::TempDir temp;
  Collection collection({.output = temp.path()});
  const std::uint32_t name = intern("flood");
  while (lost_events() == 0)  // faster than anybody can write
    for (int i = 0; i < 100'000; ++i) record(EventKind::kStamp, name, 1, 2);
  collection.stop();
  RawMemory memory;
  const std::vector<RawLoss> losses = read_raw(collection.directory(), memory);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NE(losses[0].why.find("events came faster than they could be written"), std::string::npos);
}

TEST(Collection, SystemDataComesWithItsNames) {
  const aoe::tests::TempDir temp;
  Collection collection({.output = temp.path(), .system = {.process_memory = true}});
  collection.stop();
  RawMemory memory;
  EXPECT_TRUE(read_raw(collection.directory(), memory).empty());
  ASSERT_FALSE(memory.samples.empty());
  for (const RawSample& sample : memory.samples)
    EXPECT_EQ(memory.strings.at(sample.series), "process memory (KB)");
}

}  // namespace
}  // namespace aoe::profiler
