// Target: a base instruction set that code is generated for: its vectors, its costs, LLVM's code generator for it, and the
// operations of the loop-nest language that LLVM has no neutral form for. What a machine has beyond it are features of the
// Soc (compiler/soc.h). One file each; target.cpp lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace llvm {
class IRBuilderBase;
class TargetMachine;
class Value;
}  // namespace llvm

namespace aoe::compiler {

/// Rough figures of a current core under load, for ranking Impls against each other before anything was measured: what
/// counts is their proportion. An om carries the peaks for reports.
struct Costs {
  double cycles_per_ns = 4.0;
  double fma_ports = 2.0;
  double l2_bytes_per_ns = 150.0;
  double l3_bytes_per_ns = 80.0;
  double memory_bytes_per_ns = 16.0;       ///< of one core
  double memory_bytes_per_ns_all = 100.0;  ///< of all cores together
  /// Weights that a product fetches ahead, one core alone: of L3, and of memory.
  double fetched_l3_bytes_per_ns = 60.0, fetched_bytes_per_ns = 25.0;
  double launch_ns = 2000.0;  ///< handing a stage to the threads and waiting for them
  double call_ns = 100.0;     ///< a stage of one thread
  // See graph/hardware.h. Strassen's were fitted to 1x1 convolutions of 49 to 784 pixels and 256 to 2,048 channels on a Zen 5
  // core.
  double products_per_element = 32;
  double strassen_row_columns = 10;
  double strassen_result_steps = 7;
};

class Target {
 public:
  struct Vectors {
    int bytes;
    int registers;
  };
  /// `name`: the word of runtime/isa.h without features, "avx512".
  Target(std::string_view name, Vectors vectors) : name_(name), vectors_(vectors) {}
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  std::string_view name() const { return name_; }
  int vector_bytes() const { return vectors_.bytes; }
  int vector_registers() const { return vectors_.registers; }
  int float_lanes() const { return vectors_.bytes / 4; }
  const Costs& costs() const { return costs_; }

  /// The instructions that generated code may use, as LLVM names the least CPU that has them: "x86-64-v4".
  std::string_view llvm_cpu() const;
  /// Initialises LLVM on first use. Thread-safe; a TargetMachine itself serves one thread at a time.
  std::unique_ptr<llvm::TargetMachine> make_machine() const;

  // ---- see pick(), convert() of two vectors to bfloat16 and dot() in loopnest.h; what it lacks is a bug of whoever asks. Vectors
  // of bfloat16 are LLVM's, those of bytes and int16 words of them ----

  virtual llvm::Value* pick(llvm::IRBuilderBase& ir, llvm::Value* places, llvm::Value* a,
                            llvm::Value* b) const;
  virtual llvm::Value* pack_bf16(llvm::IRBuilderBase& ir, llvm::Value* low,
                                 llvm::Value* high) const;
  virtual llvm::Value* dot_bf16(llvm::IRBuilderBase& ir, llvm::Value* a, llvm::Value* b,
                                llvm::Value* sum) const;
  virtual llvm::Value* dot_u8s8(llvm::IRBuilderBase& ir, llvm::Value* a, llvm::Value* b,
                                llvm::Value* sum, bool has_vnni) const;
  virtual llvm::Value* dot_i16(llvm::IRBuilderBase& ir, llvm::Value* a, llvm::Value* b,
                               llvm::Value* sum, bool has_vnni) const;

  // Tiles, see there; strides are in bytes.
  struct TileShape {
    int rows, row_bytes;
  };
  virtual void tile_shapes(llvm::IRBuilderBase& ir, std::span<const TileShape> shapes) const;
  virtual void tile_zero(llvm::IRBuilderBase& ir, int tile) const;
  virtual void tile_load(llvm::IRBuilderBase& ir, int tile, llvm::Value* address,
                         std::int64_t stride) const;
  virtual void tile_store(llvm::IRBuilderBase& ir, int tile, llvm::Value* address,
                          std::int64_t stride) const;
  virtual void tile_dot_bf16(llvm::IRBuilderBase& ir, int sum, int a, int b) const;
  virtual void tile_dot_u8s8(llvm::IRBuilderBase& ir, int sum, int a, int b) const;
  /// At the end of a function that used them: a thread that holds tiles is switched more slowly.
  virtual void release_tiles(llvm::IRBuilderBase& ir) const;

  /// float32 of -2^31 and more to the nearest int32, ties to even; of 2^31 and more to -2^31.
  virtual llvm::Value* round_to_int32(llvm::IRBuilderBase& ir, llvm::Value* a) const;

 private:
  virtual const char* triple() const = 0;
  /// Registers LLVM's back end, its assembler's parser included, which lld wants. Called once.
  virtual void initialise_llvm() const = 0;

  std::string_view name_;
  Vectors vectors_;
  Costs costs_;
};

/// nullptr when there is none of this name.
const Target* find_target(std::string_view name);

}  // namespace aoe::compiler
