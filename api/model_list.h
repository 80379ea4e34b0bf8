// What --models lists: paths, separated by commas or one a line of a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace aoe::api {

struct ListedModel {
  std::filesystem::path path;
  std::string
      name;  ///< the file's, with its directory's before it where several files are called so
};

/// `list`: a file unless it has a comma or ends in ".onnx". Of a file, lines that are empty or begin with '#' do not count, and
/// paths are relative to it. Whether the models are there is not asked. Error(kUsage): cannot be read, empty, one model twice.
std::vector<ListedModel> read_model_list(const std::string& list);

}  // namespace aoe::api
