// Splits lists, and tells models of one name apart.
#include "api/model_list.h"

#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/words.h"

namespace aoe::api {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostModels = 100000;

bool is_list_of_paths(const std::string& list) {
  return list.find(',') != std::string::npos || fs::path(list).extension() == ".onnx";
}

std::vector<fs::path> paths_in(std::istream& text, char separator, const fs::path& directory) {
  std::vector<fs::path> paths;
  for (std::string line; std::getline(text, line, separator);)
    if (const std::string path = trimmed(line); !path.empty() && path.front() != '#')
      paths.push_back(directory / path);
  return paths;
}

std::vector<fs::path> paths_of(const std::string& list) {
  if (is_list_of_paths(list)) {
    std::istringstream text(list);
    return paths_in(text, ',', {});
  }
  std::istringstream text(read_file(list, ExitCode::kModel));
  return paths_in(text, '\n', fs::path(list).parent_path());
}

}  // namespace

std::vector<ListedModel> read_model_list(const std::string& list) {
  const std::string where = "--models " + list;
  const std::vector<fs::path> paths = paths_of(list);
  if (paths.empty())
    throw Error(ExitCode::kUsage, "lists no model", where,
                "write the path of an .onnx file a line");
  if (paths.size() > kMostModels)
    throw Error(ExitCode::kUsage, "lists more than " + std::to_string(kMostModels) + " models",
                where);
  std::map<std::string, int> called;
  for (const fs::path& path : paths) ++called[path.stem().string()];
  std::set<std::string> names;
  std::vector<ListedModel> models;
  for (const fs::path& path : paths) {
    std::string name = path.stem().string();
    if (called[name] > 1) name = fs::absolute(path).parent_path().filename().string() + "_" + name;
    if (!names.insert(name).second)
      throw Error(ExitCode::kUsage, "two models are called " + name, where,
                  "what is written is called after them: list one, or rename it");
    models.push_back({path, name});
  }
  return models;
}

}  // namespace aoe::api
