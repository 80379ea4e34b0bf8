// What `aoe_bank import` takes. An input is the JSON lines; the zstd frame around them is ours.
#include "bank/bank_file.h"
#include "bank/zstd_text.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static aoe::fuzz::InputFile file;
  const auto& path = file.with(aoe::bank::compress_text(aoe::fuzz::text_of(data, size)));
  aoe::fuzz::read_or_refuse([&] { aoe::bank::read_bank_file(path); });
  return 0;
}
