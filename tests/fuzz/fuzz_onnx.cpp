// ONNX models, imported. Mutants are of protobuf fields, as in tests/robustness, also of the cases of tests/conformance: no
// mutant comes to an operator that no input has.
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "graph/import/onnx_import.h"
#include "tests/conformance/own_case.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/robustness/onnx_mutants.h"
#include "tests/temp_dir.h"

namespace {

const std::vector<onnx::ModelProto>& cases() {
  static const std::vector<onnx::ModelProto> models = [] {
    std::vector<onnx::ModelProto> read;
    const aoe::tests::TempDir directory;
    for (const std::string& name : aoe::conformance::own_case_names())
      read.emplace_back().ParseFromString(aoe::read_file(
          aoe::conformance::load_own_case(name, directory.path()).model, aoe::ExitCode::kData));
    return read;
  }();
  return models;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  onnx::ModelProto model;
  const bool is_case = random() % 16 == 0;
  if (is_case) model = cases()[random() % cases().size()];
  const bool is_model = is_case || model.ParseFromArray(data, static_cast<int>(size));
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
