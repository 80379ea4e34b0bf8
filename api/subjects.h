// What a run tunes: one model, each model of a list or of a directory, or each operator of a file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/settings.h"
#include "base/error.h"
#include "base/tensor.h"

namespace aoe::api {

/// A model that the caller has given: a file, or bytes.
struct GivenGraph {
  std::filesystem::path path;                ///< of bytes: where external data lies; may be empty
  std::shared_ptr<const std::string> bytes;  ///< nullptr: the file
  std::string name;                          ///< empty: the file's, or "model"
};

/// By name; without data: the shape alone.
struct GivenInput {
  TensorDesc desc;
  ConstantPtr value;
};
using GivenInputs = std::map<std::string, GivenInput>;

struct Subject {
  compiler::ModelSource source;
  std::string name;
  std::string variant;  ///< behind the name in what progress shows, where it is tuned several times
  std::string digest;   ///< of its bytes, and of how they are read
  std::filesystem::path output;  ///< with ".om"; empty when none is wanted
  std::string om_suffix;         ///< what dynamic oms' names end in, before ".om"
  GivenInputs inputs;
  std::optional<Error> unreadable;  ///< of one of several: the others are tuned
};

/// Whether there are several, how many it may be.
bool are_many(const Settings& settings);

/// Error(kUsage), Error(kOutput), and of a single model Error(kModel).
std::vector<Subject> subjects_of(const Settings& settings, const std::optional<GivenGraph>& graph,
                                 const GivenInputs& inputs);

}  // namespace aoe::api
