// Raw profiles, imported. An input is what the writer is told, so that all checksums are right: records of one byte for the
// stream, one for the kind, two for the length, and so many bytes of payload.
#include <algorithm>

#include "profiler/database/importer.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/profiler/synthetic_profile.h"

namespace {

using namespace aoe;
using profiler::ChunkKind;
using profiler::RawWriter;
using profiler::Stream;

constexpr std::size_t kRecordHead = 4;

const std::filesystem::path& profile() {
  static const tests::TempDir directory;
  static profiler::tests::SyntheticProfile made(directory.path(), profiler::Generation::kProf);
  static const bool is_flushed = (made.flush(), true);
  (void)is_flushed;
  return made.directory();
}

void write_streams(std::string_view input) {
  for (const char* data : {"host/data", "device_0/data"})
    for (const auto& file : std::filesystem::directory_iterator(profile() / data))
      std::filesystem::remove(file.path());
  RawWriter writer({.directory = profile()});
  while (input.size() >= kRecordHead) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(input[i]); };
    const auto stream = static_cast<Stream>(byte(0) % profiler::kStreams);
    const auto kind = static_cast<ChunkKind>(byte(1) % 10);
    const std::size_t length = byte(2) + 256u * byte(3);
    input.remove_prefix(kRecordHead);
    writer.add(stream, kind, input.substr(0, length));
    input.remove_prefix(std::min(length, input.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  write_streams(fuzz::text_of(data, size));
  fuzz::read_or_refuse([] { profiler::import_raw(profile()); });
  return 0;
}
