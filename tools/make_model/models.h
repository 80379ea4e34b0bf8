// The models that make_model writes: one file each in models/, with `void register_<file
// stem>(ModelRegistry&)`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/make_model/onnx_writer.h"

namespace aoe::make_model {

/// A size that remembers whether the model asked for it: one that it does not have must not be given.
class SizeOption {
 public:
  SizeOption(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  operator std::int64_t() const {                    // NOLINT(google-explicit-constructor)
    is_used_ = true;
    return value_;
  }
  bool is_used() const { return is_used_; }

 private:
  std::int64_t value_;
  mutable bool is_used_ = false;
};

struct ModelOptions {
  std::uint64_t seed = 0;
  SizeOption batch = 1;
  SizeOption image = 224;            ///< height and width of image inputs
  SizeOption sequence = 128;         ///< tokens of text inputs
  SizeOption layers = 0;             ///< of transformers and LSTMs; 0 is the standard number
  SizeOption hidden = 0, heads = 0;  ///< of decoders; 0 is the standard number
  SizeOption past = 128;             ///< tokens that the cache of a decoder has room for
  std::string form = "";             ///< one of Model::forms; empty: the first
  bool is_small = false;             ///< few channels and blocks of the same kind: for tests
};

struct Model {
  std::string name;
  std::string summary;
  int opset = 13;
  void (*write)(OnnxWriter&, const ModelOptions&) = nullptr;
  std::vector<std::string> forms = {};  ///< ways to write the same; none: there is one
};

class ModelRegistry {
 public:
  void add(Model model) { models_.push_back(std::move(model)); }
  std::vector<Model> sorted() const;

 private:
  std::vector<Model> models_;
};

/// All models, sorted by name.
const std::vector<Model>& models();

}  // namespace aoe::make_model
