// Lists models and gives each its name, digest and output.
#include "api/subjects.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "options/output_path.h"
#include "options/single_op.h"

namespace aoe::api {
namespace fs = std::filesystem;
namespace {

Subject from_bytes(const compiler::ModelSource& source, std::string name, std::string_view bytes,
                   const std::string& how) {
  return {.source = source,
          .name = std::move(name),
          .digest = to_hex(hash128(to_hex(hash128(bytes)) + how))};
}

Subject from_file(const Settings& settings, const fs::path& path) {
  compiler::ModelSource source = settings.model;
  source.path = path;
  return from_bytes(source, path.stem().string(), read_file(path, ExitCode::kModel),
                    settings.model_flags);
}

Subject from_graph(const Settings& settings, const GivenGraph& graph) {
  Subject subject;
  if (graph.bytes) {
    compiler::ModelSource source = settings.model;
    source.path = graph.path.empty() ? "model" : graph.path;
    source.bytes = graph.bytes;
    subject = from_bytes(source, source.path.stem().string(), *graph.bytes, settings.model_flags);
  } else {
    subject = from_file(settings, graph.path);
  }
  if (!graph.name.empty()) subject.name = graph.name;
  return subject;
}

/// A model that cannot be read does not keep others from being tuned.
Subject from_one_of_many(const Settings& settings, const ListedModel& model) {
  try {
    Subject subject = from_file(settings, model.path);
    subject.name = model.name;
    return subject;
  } catch (const Error& e) {
    return {.source = settings.model, .name = model.name, .unreadable = e};
  }
}

std::vector<Subject> from_list(const Settings& settings, const std::vector<ListedModel>& models) {
  std::vector<Subject> subjects;
  for (const ListedModel& model : models) subjects.push_back(from_one_of_many(settings, model));
  return subjects;
}

std::vector<Subject> from_directory(const Settings& settings) {
  std::error_code status;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(settings.model_path, status))
    if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  const std::string where = "--model_path " + settings.model_path.string();
  if (status) throw Error(ExitCode::kModel, "cannot be read: " + status.message(), where);
  if (files.empty())
    throw Error(ExitCode::kUsage, "has no .onnx file", where, "export the models to ONNX");
  std::ranges::sort(files);
  std::vector<ListedModel> models;
  for (const fs::path& file : files) models.push_back({file, file.stem().string()});
  return from_list(settings, models);
}

std::vector<Subject> from_operators(const Settings& settings) {
  const std::string text = read_file(settings.single_ops, ExitCode::kModel);
  std::vector<Subject> subjects;
  for (options::SingleOp& op : options::read_single_ops(settings.single_ops)) {
    compiler::ModelSource source = settings.model;
    source.path = op.name;
    source.graph = std::make_shared<const graph::Graph>(std::move(op.graph));
    subjects.push_back(from_bytes(source, op.name, text, settings.model_flags + "\n" + op.name));
  }
  return subjects;
}

/// Of one model the om, of several the directory.
void set_outputs(const Settings& settings, std::vector<Subject>& subjects) {
  if (settings.output.empty()) return;
  const std::string flag = "--output";
  const bool is_directory = are_many(settings);
  if (is_directory && !options::is_writable_directory(settings.output))
    throw Error(ExitCode::kOutput, "is no directory that can be written",
                flag + " " + settings.output, "create it first");
  for (Subject& subject : subjects)
    subject.output = options::om_output_path(
        is_directory ? fs::path(settings.output) / subject.name : fs::path(settings.output), flag,
        subject.om_suffix);
}

/// The result replaces neither a model nor its om.
void check_result(const fs::path& result, const std::vector<Subject>& subjects) {
  if (result.empty()) return;
  for (const Subject& subject : subjects) {
    if (!subject.source.graph)
      options::check_is_another_file(result, "--result", subject.source.path, "the model");
    if (!subject.output.empty())
      options::check_is_another_file(result, "--result", subject.output, "the tuned om");
  }
}

/// Shapes fill in what is dynamic; the digest has them.
void set_inputs(const GivenInputs& inputs, Subject& subject) {
  if (inputs.empty()) return;
  if (subject.source.gears)
    throw Error(ExitCode::kUsage, "inputs have one size, and gears several",
                "AoeSetTuningGraphInput()", "leave one out");
  std::string shapes;
  for (const auto& [name, input] : inputs) {
    const auto [asked, is_new] = subject.source.import.input_shapes.emplace(name, input.desc.shape);
    if (!is_new && asked->second != input.desc.shape)
      throw Error(ExitCode::kUsage, "input '" + name + "' has another shape in --input_shape",
                  "AoeSetTuningGraphInput()", "leave one out");
    shapes += "\n" + name + ":" + to_string(input.desc);
  }
  subject.digest = to_hex(hash128(subject.digest + shapes));
  subject.inputs = inputs;
}

}  // namespace

bool are_many(const Settings& settings) {
  return !settings.models.empty() || !settings.model_path.empty() || !settings.single_ops.empty();
}

std::vector<Subject> subjects_of(const Settings& settings, const std::optional<GivenGraph>& graph,
                                 const GivenInputs& inputs) {
  const bool is_list = are_many(settings);
  if (is_list && settings.reload && !settings.reload->empty())
    throw Error(ExitCode::kUsage, "names one job, and there are several models",
                "--reload=" + *settings.reload, "leave the name out");
  if (is_list && !settings.tuning_name.empty())
    throw Error(ExitCode::kUsage, "names one model, and there are several", "tuning_name");
  std::vector<Subject> subjects;
  if (graph)
    subjects = {from_graph(settings, *graph)};
  else if (!settings.models.empty())
    subjects = from_list(settings, settings.models);
  else if (!settings.model_path.empty())
    subjects = from_directory(settings);
  else if (!settings.single_ops.empty())
    subjects = from_operators(settings);
  else
    subjects = {from_file(settings, settings.model.path)};
  for (Subject& subject : subjects) {
    if (!settings.tuning_name.empty()) subject.name = settings.tuning_name;
    if (subject.name.empty() || subject.name.find('/') != std::string::npos)
      throw Error(ExitCode::kUsage, "'" + subject.name + "' cannot be part of a file's name",
                  "the model's name");
    if (subject.source.gears)
      subject.om_suffix = options::dynamic_om_suffix(settings.tuning.soc.version);
    set_inputs(inputs, subject);
  }
  set_outputs(settings, subjects);
  check_result(settings.result_file, subjects);
  return subjects;
}

}  // namespace aoe::api
