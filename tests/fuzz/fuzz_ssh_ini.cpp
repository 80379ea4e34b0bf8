// ssh.ini of `msprof collect`.
#include "tests/fuzz/fuzz_input.h"
#include "tools/msprof/ssh_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static aoe::fuzz::InputFile file;
  const auto& path = file.with(aoe::fuzz::text_of(data, size));
  aoe::fuzz::read_or_refuse([&] { aoe::tools::read_ssh_config(path); });
  return 0;
}
