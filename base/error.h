// Errors that the user or the world causes: thrown as Error, caught once at a wall (main, C API, worker, thread).
// A normal "no" is a Result (base/result.h); a bug of ours is AOE_CHECK (base/check.h).
#pragma once

#include <stdexcept>
#include <string>

namespace aoe {

/// Process exit codes of every program; documented in docs/aoe.md. Never renumber.
enum class ExitCode : int {
  kSuccess = 0,
  kFailure = 1,  ///< the work itself failed: tuning, compilation or execution
  kUsage = 2,    ///< unknown flag, bad value, contradictory options
  kModel =
      3,  ///< input model missing, unreadable, not ONNX, truncated, unsupported op, contradictory shapes
  kOm = 4,  ///< om missing, damaged, truncated, of another version, or compiled for another ISA
  kBank =
      5,  ///< bank directory missing, not a bank, damaged, locked too long, written by a newer version
  kOutput = 6,  ///< an output file or directory cannot be written
  kData = 7,    ///< an input tensor file is missing, damaged or does not fit the model
  kOutputsDiffer =
      8,           ///< outputs differ from what they were compared with: an answer, no Error's code
  kInternal = 70,  ///< a bug of ours
  kInterrupted = 130  ///< stopped by SIGINT or SIGTERM; what was won so far is kept
};

/// what happened, where (file, node, flag; may be empty) and what to do about it (may be empty).
/// what() renders them on one line as "where: what; advice".
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, std::string what, std::string where = {}, std::string advice = {});
  ExitCode code() const { return code_; }
  const std::string& where() const { return where_; }
  const std::string& advice() const { return advice_; }

 private:
  ExitCode code_;
  std::string where_;
  std::string advice_;
};

}  // namespace aoe
