// Names and info files of PROF_* and JOB* directories.
#include "profiler/collect/directory.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/to_number.h"

namespace aoe::profiler {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string padded(std::uint64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

/// Local time, to the second.
std::string local_time(std::int64_t realtime_ns, const char* format) {
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

/// "20261121102544123".
std::string timestamp_17(std::int64_t realtime_ns) {
  return local_time(realtime_ns, "%Y%m%d%H%M%S") + padded(realtime_ns / 1'000'000 % 1000, 3);
}

std::string date_of(std::int64_t realtime_ns) {
  return local_time(realtime_ns, "%Y-%m-%d %H:%M:%S") + "." +
         padded(realtime_ns / 1000 % 1'000'000, 6);
}

/// One more than the largest "PROF_<sequence>_..." there, going round after 999999.
std::uint64_t next_sequence(const fs::path& parent) {
  constexpr std::uint64_t kSequences = 999999;
  constexpr std::string_view kPrefix = "PROF_";
  std::uint64_t largest = 0;
  std::error_code unreadable;  // then it counts as empty, and making the directory will tell
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    std::uint64_t sequence = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), sequence);
    largest = std::max(largest, sequence);
  }
  return largest % kSequences + 1;
}

/// Eight letters A..R, so that two collections of one process in one millisecond differ.
std::string random_letters() {
  std::random_device random;
  std::string letters;
  for (int i = 0; i < 8; ++i) letters += static_cast<char>('A' + random() % 18);
  return letters;
}

std::string new_name(const CollectOptions& options, const ClockPoint& now) {
  const std::string time = timestamp_17(now.realtime_ns);
  if (options.generation == Generation::kJob) return "JOB" + time + random_letters();
  const auto pid = static_cast<std::uint64_t>(::getpid());
  return "PROF_" + padded(next_sequence(options.output), 6) + "_" + time + "_" + padded(pid, 8) +
         random_letters();
}

void make_directories(const fs::path& path) {
  std::error_code status;
  fs::create_directories(path, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be made a directory: " + status.message(),
                path.string());
}

std::string first_line_of(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The words of /proc/self/cmdline.
json command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  json words = json::array();
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

/// The value of the first line "<key>\t: <value>".
std::string cpuinfo(const std::string& key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return line.substr(std::min(line.size(), line.find(": ") + 2));
  return {};
}

json period_json(const ClockPoint& start, const ClockPoint* end) {
  const auto micros = [](const ClockPoint* at) {
    return at == nullptr ? std::string() : std::to_string(at->realtime_ns / 1000);
  };
  return {{"collectionDateBegin", date_of(start.realtime_ns)},
          {"collectionDateEnd", end == nullptr ? std::string() : date_of(end->realtime_ns)},
          {"collectionTimeBegin", micros(&start)},
          {"collectionTimeEnd", micros(end)},
          {"clockMonotonicRaw", std::to_string(start.monotonic_ns)}};
}

std::string start_log(const char* section, const ClockPoint& now) {
  return "[" + std::string(section) +
         "]\nclock_monotonic_raw: " + std::to_string(now.monotonic_ns) +
         "\nclock_realtime: " + std::to_string(now.realtime_ns) + "\n";
}

bool is_prof(const CollectOptions& options) {
  return options.generation == Generation::kProf;
}

/// Once on the host's side and once on the device's, which here are one; JOB directories have one place for all.
void write_everywhere(const fs::path& directory, const CollectOptions& options,
                      const std::string& name, const json& content) {
  const std::string text = json_text(content, 2, BadUtf8::kReplaced) + "\n";
  if (is_prof(options)) write_file_atomically(directory / "host" / name, text);
  const fs::path device = is_prof(options) ? directory / "device_0" : directory;
  const bool is_numbered = name != "sample.json";
  write_file_atomically(device / (is_numbered ? name + ".0" : name), text);
}

}  // namespace

ClockPoint read_clocks() {
  return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_REALTIME)};
}

fs::path executable_directory() {
  std::error_code status;
  const fs::path executable = fs::read_symlink("/proc/self/exe", status);
  return status ? fs::current_path() : executable.parent_path();
}

std::optional<fs::path> work_path() {
  const char* const path = std::getenv("ASCEND_WORK_PATH");
  if (path == nullptr || *path == '\0') return std::nullopt;
  return path;
}

namespace {
void write_beginning(const fs::path& directory, const CollectOptions& options,
                     const ClockPoint& now) {
  for (const char* side : {"host/data", "device_0/data"})
    if (is_prof(options)) make_directories(directory / side);
  if (!is_prof(options)) make_directories(directory / "data");
  write_everywhere(directory, options, "sample.json", to_json(options));
  write_everywhere(directory, options, "start_info", period_json(now, nullptr));
  if (is_prof(options)) {
    write_file_atomically(directory / "host/host_start.log", start_log("Host", now));
    write_file_atomically(directory / "device_0/dev_start.log.0", start_log("0", now));
  }
}
}  // namespace

fs::path make_directory(const CollectOptions& options, const ClockPoint& now) {
  make_directories(options.output);
  const fs::path directory = fs::absolute(options.output) / new_name(options, now);
  std::error_code status;
  if (!fs::create_directory(directory, status))
    throw Error(ExitCode::kOutput,
                "cannot be made: " + (status ? status.message() : "there is one of this name"),
                directory.string());
  try {
    write_beginning(directory, options, now);
  } catch (...) {
    fs::remove_all(directory, status);
    throw;
  }
  return directory;
}

void write_info(const fs::path& directory, const CollectOptions& options, const ClockPoint& start,
                const json& more) {
  utsname system{};
  ::uname(&system);
  json info = {{"pid", ::getpid()},
               {"process_name", first_line_of("/proc/self/comm")},
               {"command_line", command_line()},
               {"host_name", system.nodename},
               {"host_uid", first_line_of("/etc/machine-id")},
               {"os", std::string(system.sysname) + " " + system.release},
               {"processor", cpuinfo("model name")},
               {"cores", std::thread::hardware_concurrency()},
               {"monotonic_to_unix_ns", start.realtime_ns - start.monotonic_ns}};
  // As it was at the start: the clock of a core goes up and down.
  if (const auto mhz = to_number<double>(cpuinfo("cpu MHz"))) info["frequency_mhz"] = *mhz;
  info.update(more);
  write_everywhere(directory, options, "info.json", info);
}

void write_end(const fs::path& directory, const CollectOptions& options, const ClockPoint& start,
               const ClockPoint& end, const json& chunks) {
  json period = period_json(start, &end);
  period["chunks"] = chunks;
  write_everywhere(directory, options, "end_info", period);
}

}  // namespace aoe::profiler
