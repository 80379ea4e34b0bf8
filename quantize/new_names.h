// NewNames: what values that are added to a model are called.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace aoe::quantize {

class NewNames {
 public:
  /// The graph's own names, those in bodies of its nodes too, are taken.
  explicit NewNames(const onnx::GraphProto& graph);

  /// "<value><suffix>", with a number behind it where the model has such a name. The same every time it is asked.
  const std::string& of(const std::string& value, const std::string& suffix);

 private:
  void take_names_of(const onnx::GraphProto& graph);

  std::set<std::string> taken_;
  std::map<std::pair<std::string, std::string>, std::string> given_;  ///< by value and suffix
};

}  // namespace aoe::quantize
