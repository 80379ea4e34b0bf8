// ONNX models, imported. Mutants are of protobuf fields, as in tests/robustness.
#include <random>

#include "graph/onnx_import.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/robustness/onnx_mutants.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  onnx::ModelProto model;
  const bool is_model = model.ParseFromArray(data, static_cast<int>(size));
  if (!is_model || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  aoe::tests::mutate(model, random);
  const std::size_t bytes = model.ByteSizeLong();
  if (bytes > most) return size;
  model.SerializeToArray(data, static_cast<int>(bytes));
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  aoe::fuzz::read_or_refuse([&] {
    aoe::graph::import_onnx(
        aoe::graph::OnnxBytes{.bytes = aoe::fuzz::text_of(data, size), .name = "fuzz.onnx"}, {});
  });
  return 0;
}
