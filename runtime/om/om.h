// The om: an offline model, one file, read as a whole. Om is the content of one shape in memory; of a file with
// dynamic gears there are several (geared_om.h).
//
// File layout (little-endian; every section starts at a multiple of 4096):
//   header   magic "AOEOM\0\0\1", format version, total size, section table {kind, offset, size, crc32c}, crc32c
//   graph    CBOR: name, soc_version, required ISA, threads, tensors, steps, inputs, outputs; one for each gear.
//            "groups", of an older compiler, is not read: the steps run one after another, which gives the same
//   weights  constants in the format their kernel reads, each 64-byte aligned, equal ones once
//   code     an ELF shared object with the generated kernels; empty when there are none
//   tuning   CBOR: which strategy each op got, and where from; with gears a list of that
//   gears    only with gears; CBOR: their kind, their values, the axes of the inputs that they change
// The format version is 1 without gears and 2 with them. A damaged, truncated or foreign file is refused with Error(kOm)
// before anything of it runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/layout.h"
#include "base/tensor.h"
#include "base/texts.h"
#include "reference/op.h"
#include "runtime/om/om_container.h"

namespace aoe::runtime {

class Backend;
struct LoadBudget;

enum class Place : int {
  kInput,    ///< buffer given by the caller; offset = index of the model input
  kOutput,   ///< buffer given by the caller; offset = index of the model output
  kWeight,   ///< offset into the weights section
  kArena,    ///< offset into the arena, from the memory plan
  kDynamic,  ///< shape known only at run time: allocated when its step runs
};

struct OmTensor {
  std::string name;
  TensorDesc desc;  ///< with its chosen format; packed constants are ND uint8
  Place place = Place::kArena;
  std::uint64_t offset = 0;
  Memory memory = Memory::kHost;  ///< that of the backends that use it
};

struct OmStage {
  std::string symbol;       ///< in the code section; ABI in compiler/loopnest/loopnest.h
  std::int64_t extent = 1;  ///< parallel iterations
  std::int64_t rounds = 1;  ///< of so many iterations, each when the one before has ended
};

/// One op of the model as it runs. Beside what all steps have stands what only its backend reads.
struct OmStep {
  std::string name;                   ///< node name
  std::vector<std::string> op_types;  ///< IR types, anchor first
  std::vector<std::string> origins;   ///< ONNX node names
  const Backend* backend = nullptr;   ///< who carries it out; never null in an om
  reference::OpCall call;             ///< what it is: to run, or for reports
  std::vector<OmStage> stages;        ///< generated code
  nlohmann::json params;              ///< of a library
  std::vector<int>
      inputs;  ///< tensor ids of the node's inputs, -1 = absent; constants included where the backend reads them
  std::vector<int> outputs;         ///< tensor ids, -1 = unused
  std::vector<int> constants;       ///< tensor ids of packed constants
  int workspace = -1;               ///< tensor id
  std::uint64_t scratch_bytes = 0;  ///< per thread, of generated code
  double flops = 0;                 ///< analytic
  double bytes = 0;                 ///< analytic
  /// "Conv+Relu".
  std::string types_text() const;
  /// "AI_CPU" for plain loops, "AI_CORE".
  const char* task_type() const;
};

/// What an om says of itself and of the machine it is for: the same in every gear of a model.
struct OmHead {
  std::string name;
  std::string soc_version;
  std::string isa;  ///< "avx2" or "avx512": the least a machine must have
  int threads = 1;
  int c0 = 16;
  /// What the compiler takes the machine for, float32, of `threads` threads; for reports alone.
  /// Absent in an om of an older compiler.
  std::optional<double> peak_gflops, memory_gb_s;
  bool has_measured_roofs =
      false;  ///< these two are measured on the machine, not assumed of its kind
};

class WeightLender;  // om_bodies.h

struct Om : OmHead {
  std::vector<OmTensor> tensors;
  std::vector<OmStep> steps;
  std::vector<int> inputs;  ///< tensor ids
  std::vector<int>
      outputs;  ///< one that is not kOutput at its own index is copied to the caller at the end of a run
  Texts texts;  ///< what the numbers of inputs and outputs stand for
  std::uint64_t arena_bytes = 0;
  AlignedBytes weights;  ///< filled when built; a loaded om keeps a view of the file instead
  std::string code;
  nlohmann::json tuning;

  std::string_view weights_view;  ///< set by load(): into the file
  std::string_view code_view;
  /// Built or loaded.
  std::string_view weights_bytes() const {
    return weights.empty() ? weights_view : std::string_view(weights.data(), weights.size());
  }
  std::string_view code_bytes() const { return code.empty() ? code_view : code; }

  std::size_t graph_bytes = 0;        ///< set by load(): size of the graph section, for reports
  std::shared_ptr<const void> owner;  ///< keeps the views alive

  /// To be written while this lives.
  OmFile file() const;
  std::string serialize() const;
  /// Reads and verifies. Throws Error(kOm), also when the file has gears.
  static Om load(const std::filesystem::path& path);
  /// Parses bytes that `owner` keeps alive; `where` names them in errors. Bodies are looked at as well.
  static Om parse(std::string_view bytes, std::shared_ptr<const void> owner,
                  const std::string& where);
  /// Looks at no bodies. `lender` is the om whose step runs this one, if that has its weights.
  static Om parse_alone(std::string_view bytes, std::shared_ptr<const void> owner,
                        const std::string& where, LoadBudget& budget,
                        WeightLender* lender = nullptr);
};

}  // namespace aoe::runtime
