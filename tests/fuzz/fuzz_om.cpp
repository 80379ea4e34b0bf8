// Oms: read and verified, nothing of them runs. Mutants are of fields, under right checksums, as in tests/robustness.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "runtime/om/geared_om.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/robustness/om_mutants.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  try {
    const std::string mutant =
        aoe::tests::mutate_om(std::string(aoe::fuzz::text_of(data, size)), random).bytes;
    if (mutant.size() > most) return size;
    std::memcpy(data, mutant.data(), mutant.size());
    return mutant.size();
  } catch (const std::exception&) {  // not an om any more
    return LLVMFuzzerMutate(data, size, most);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::make_shared<const std::vector<char>>(data, data + size);
  aoe::fuzz::read_or_refuse([&] {
    aoe::runtime::GearedOm::parse({bytes->data(), bytes->size()}, bytes, "fuzz.om");
  });
  return 0;
}
