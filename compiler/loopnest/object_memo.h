// Object code of functions that were compiled lately. Tuning compiles the conversions around every candidate of a task, and the
// finalists of its races once more: of a ResNet-50's 71 s of code generation 42 were for functions compiled before.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/hash.h"

namespace aoe::compiler::loopnest {

/// What a function becomes depends on its key alone. Thread-safe.
class ObjectMemo {
 public:
  /// Holds at most twice this much.
  explicit ObjectMemo(std::size_t generation_bytes) : generation_bytes_(generation_bytes) {}

  std::optional<std::string> find(const Digest128& key);
  void keep(const Digest128& key, std::string object);

 private:
  struct Hash {
    std::size_t operator()(const Digest128& key) const { return key.high; }
  };
  using Objects = std::unordered_map<Digest128, std::string, Hash>;

  void keep_locked(const Digest128& key, std::string object);

  const std::size_t generation_bytes_;
  std::mutex mutex_;
  Objects young_,
      old_;  ///< what is found among the old becomes young; when the young are many, the old go
  std::size_t young_bytes_ = 0;
};

}  // namespace aoe::compiler::loopnest
