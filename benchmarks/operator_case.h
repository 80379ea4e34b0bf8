// OperatorCase: a model of one operator, or a few in a row, with its inputs, from a line of operator_cases.txt:
//
//   TYPES OPERATOR[@OPSET] in=... attribute=JSON ... [outputs=N] [-> OPERATOR in=... ...]
//
//   TYPES          a comma between each: f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool; the line is a case for each of them
//   OPERATOR       as ONNX calls it; "com.microsoft.Gelu"; several with a bar between each are as many cases. Without @OPSET the
//                  newest that ONNX Runtime has most kernels for
//   in=2x64x7x7    an input of the case's type, in [-2, 2) (integers: of two digits)
//   in=8:0.1..3    values in this range, both ends included by integers
//   in=8:const     an initializer
//   in=8:int64     of another type
//   in=8x4:rows    an input of whose first dimension only a run tells the size: a mask chooses all of it
//   in=8x4:open    an input of whose dimensions only a run tells any
//   in=8x~4        an input of whose dimensions behind a ~ only a run tells
//   in=scalar      of rank 0
//   in=[0,-1]      an initializer of int64 with these values
//   in=-           absent
//   ->             the next operator's first input is the first output of the one before; its line names only the others
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/onnxruntime_peer.h"

namespace aoe::benchmarks {

struct OperatorCase {
  std::string model;  ///< the bytes of an ONNX file
  std::vector<NamedTensor> inputs;
  std::map<std::string, Shape> open_inputs;  ///< of inputs with sizes that only a run tells
};

/// The lines of a file, each for one type and one operator, whose text matches the regular expression. Throws Error(kData).
std::vector<std::string> read_operator_cases(const std::filesystem::path& file,
                                             const std::string& only);

/// Throws Error(kData) on what it cannot read.
OperatorCase make_operator_case(const std::string& line);

}  // namespace aoe::benchmarks
