// Tensors from .npy files.
#include "runtime/npy.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static aoe::fuzz::InputFile file;
  const auto& path = file.with(aoe::fuzz::text_of(data, size));
  aoe::fuzz::read_or_refuse([&] { aoe::runtime::read_npy(path); });
  return 0;
}
