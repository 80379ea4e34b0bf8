// Input tensors from files or by seed; names of output files.
#include "tools/aoe_run/tensors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/random_tensor.h"
#include "base/words.h"
#include "runtime/npy.h"

namespace aoe::tools {
namespace {

std::string names_of(const std::vector<Port>& ports) {
  return joined(ports, ", ", &Port::name);
}

/// Input names may hold '=' themselves, so the longest name that fits is meant.
std::size_t find_port(const std::vector<Port>& ports, const std::string& argument) {
  std::size_t found = ports.size();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const bool is_better = found == ports.size() || ports[i].name.size() > ports[found].name.size();
    if (argument.starts_with(ports[i].name + "=") && is_better) found = i;
  }
  if (found == ports.size())
    throw Error(ExitCode::kUsage, "'" + argument + "' is not NAME=FILE with the name of an input",
                "--input", "the model has: " + names_of(ports));
  return found;
}

}  // namespace

std::vector<std::optional<Constant>> read_inputs(const std::vector<Port>& ports,
                                                 const std::vector<std::string>& files) {
  std::vector<std::string> file_of(ports.size());
  for (const std::string& argument : files) {
    const std::size_t port = find_port(ports, argument);
    if (!file_of[port].empty())
      throw Error(ExitCode::kUsage, "input '" + ports[port].name + "' is given twice", "--input");
    file_of[port] = argument.substr(ports[port].name.size() + 1);
    if (file_of[port].empty())
      throw Error(ExitCode::kUsage, "input '" + ports[port].name + "' has no file", "--input");
  }
  std::vector<std::optional<Constant>> inputs(ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (!file_of[i].empty()) inputs[i] = runtime::read_npy(file_of[i]);
  return inputs;
}

std::vector<ConstantPtr> fill_up(std::vector<std::optional<Constant>> given,
                                 const std::vector<Port>& ports, std::int64_t batch) {
  std::vector<ConstantPtr> inputs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    TensorDesc desc = ports[i].desc;
    if (!desc.shape.empty() && desc.shape.front() == kUnknownDim) desc.shape.front() = batch;
    std::ranges::replace(desc.shape, kUnknownDim, 1);
    inputs.push_back(given[i] ? std::make_shared<const Constant>(std::move(*given[i]))
                              : random_tensor(desc, i, 0, 1));
  }
  return inputs;
}

std::vector<std::filesystem::path> output_paths(const std::vector<Port>& ports,
                                                const std::filesystem::path& directory) {
  std::error_code status;
  std::filesystem::create_directories(directory, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be made a directory: " + status.message(),
                directory.string(), "choose a writable place");
  std::vector<std::filesystem::path> paths;
  for (const Port& port : ports) {
    paths.push_back(directory / runtime::npy_file_name(port.name));
  }
  if (std::set(paths.begin(), paths.end()).size() != paths.size())
    throw Error(ExitCode::kOutput, "two outputs would be written to one file: " + names_of(ports),
                directory.string());
  return paths;
}

}  // namespace aoe::tools
