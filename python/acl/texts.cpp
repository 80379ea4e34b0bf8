// acl.mdl: texts of models and of datasets.
#include <pybind11/stl.h>

#include "handles.h"

namespace aoe::pyacl {
namespace {

aclmdlDesc* find(Address desc) {
  return descriptions().find(desc).get();  // used with the GIL held: nobody ends it meanwhile
}

/// Those that `text_at(place, length)` has from `first` on.
template <typename TextAt>
std::vector<std::string> listed(std::int64_t first, TextAt&& text_at) {
  std::vector<std::string> texts;
  std::size_t length = 0;
  for (std::int64_t place = first; const char* text = text_at(place, &length); ++place)
    texts.emplace_back(text, length);
  return texts;
}

std::vector<std::string> texts_of_model(Address desc) {
  return listed(0, [&](std::int64_t place, std::size_t* length) {
    return aclmdlGetTextByIndex(find(desc), static_cast<std::size_t>(place), length);
  });
}

aclError set_dataset_texts(Address dataset, Address desc) {
  return aclmdlSetDatasetTexts(datasets().find(dataset).get(), find(desc));
}

/// (places, ret)
std::tuple<std::vector<std::int64_t>, aclError> add_dataset_texts(
    Address dataset, const std::vector<std::string>& texts) {
  std::vector<std::int64_t> places;
  for (const std::string& text : texts) {
    const aclError code = aclmdlAddDatasetText(datasets().find(dataset).get(), text.data(),
                                               text.size(), &places.emplace_back());
    if (code != ACL_SUCCESS) return {std::vector<std::int64_t>{}, code};
  }
  return {places, ACL_SUCCESS};
}

/// From a place on.
std::vector<std::string> dataset_texts(Address dataset, std::int64_t first) {
  return listed(first, [&](std::int64_t place, std::size_t* length) {
    return aclmdlGetDatasetText(datasets().find(dataset).get(), place, length);
  });
}

}  // namespace

void bind_texts(py::module_& mdl) {
  mdl.def(
      "is_input_text",
      [](Address desc, std::size_t index) { return aclmdlIsInputText(find(desc), index); },
      "model_desc"_a, "index"_a);
  mdl.def(
      "is_output_text",
      [](Address desc, std::size_t index) { return aclmdlIsOutputText(find(desc), index); },
      "model_desc"_a, "index"_a);
  mdl.def(
      "reads_texts", [](Address desc) { return aclmdlReadsTexts(find(desc)); }, "model_desc"_a);
  mdl.def("get_texts", &texts_of_model, "model_desc"_a);
  mdl.def("set_dataset_texts", &set_dataset_texts, "dataset"_a, "model_desc"_a);
  mdl.def("add_dataset_texts", &add_dataset_texts, "dataset"_a, "texts"_a);
  mdl.def("get_dataset_texts", &dataset_texts, "dataset"_a, "first"_a = 0);
}

}  // namespace aoe::pyacl
