// acl.mdl: what a model's inputs and outputs are.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "dims.h"
#include "handles.h"

namespace aoe::pyacl {
namespace {

aclmdlDesc* find(Address desc) {
  return descriptions().find(desc).get();  // used with the GIL held: nobody ends it meanwhile
}

using GetDims = aclError (*)(const aclmdlDesc*, std::size_t, aclmdlIODims*);

template <GetDims get>
std::tuple<py::dict, aclError> dims_of(Address desc, std::size_t index) {
  aclmdlIODims dims{};
  const aclError code = get(find(desc), index, &dims);
  return {dict_of(dims), code};
}

using GetIndex = aclError (*)(const aclmdlDesc*, const char*, std::size_t*);

template <GetIndex get>
std::tuple<std::size_t, aclError> index_of(Address desc, const std::string& name) {
  std::size_t index = 0;
  const aclError code = get(find(desc), name.c_str(), &index);
  return {index, code};
}

}  // namespace

Handles<aclmdlDesc>& descriptions() {
  static auto& made = immortal<Handles<aclmdlDesc>>(aclmdlDestroyDesc);
  return made;
}

py::dict dict_of(const aclmdlIODims& dims) {
  py::list sizes;
  for (std::size_t i = 0; i < dims.dimCount; ++i) sizes.append(dims.dims[i]);
  return py::dict("name"_a = text_of(dims.name), "dimCount"_a = dims.dimCount, "dims"_a = sizes);
}

void bind_descriptions(py::module_& mdl) {
  mdl.def("create_desc", [] { return descriptions().add(aclmdlCreateDesc()); });
  mdl.def(
      "destroy_desc", [](Address desc) { return descriptions().destroy(desc); }, "model_desc"_a);
  mdl.def(
      "get_desc",
      [](Address desc, std::uint32_t model) { return aclmdlGetDesc(find(desc), model); },
      "model_desc"_a, "model_id"_a);
  mdl.def(
      "get_desc_from_file",
      [](Address desc, const std::filesystem::path& path) {
        return aclmdlGetDescFromFile(find(desc), path.c_str());
      },
      "model_desc"_a, "path"_a);
  mdl.def(
      "get_num_inputs", [](Address desc) { return aclmdlGetNumInputs(find(desc)); },
      "model_desc"_a);
  mdl.def(
      "get_num_outputs", [](Address desc) { return aclmdlGetNumOutputs(find(desc)); },
      "model_desc"_a);
  mdl.def(
      "get_input_size_by_index",
      [](Address desc, std::size_t index) { return aclmdlGetInputSizeByIndex(find(desc), index); },
      "model_desc"_a, "index"_a);
  mdl.def(
      "get_output_size_by_index",
      [](Address desc, std::size_t index) { return aclmdlGetOutputSizeByIndex(find(desc), index); },
      "model_desc"_a, "index"_a);
  mdl.def("get_input_dims", &dims_of<aclmdlGetInputDims>, "model_desc"_a, "index"_a);
  mdl.def("get_output_dims", &dims_of<aclmdlGetOutputDims>, "model_desc"_a, "index"_a);
  mdl.def("get_cur_output_dims", &dims_of<aclmdlGetCurOutputDims>, "model_desc"_a, "index"_a);
  mdl.def(
      "get_input_name_by_index",
      [](Address desc, std::size_t index) {
        return text_of(aclmdlGetInputNameByIndex(find(desc), index));
      },
      "model_desc"_a, "index"_a);
  mdl.def(
      "get_output_name_by_index",
      [](Address desc, std::size_t index) {
        return text_of(aclmdlGetOutputNameByIndex(find(desc), index));
      },
      "model_desc"_a, "index"_a);
  mdl.def(
      "get_input_format",
      [](Address desc, std::size_t index) -> int {
        return aclmdlGetInputFormat(find(desc), index);
      },
      "model_desc"_a, "index"_a);
  mdl.def(
      "get_output_format",
      [](Address desc, std::size_t index) -> int {
        return aclmdlGetOutputFormat(find(desc), index);
      },
      "model_desc"_a, "index"_a);
  mdl.def(
      "get_input_data_type",
      [](Address desc, std::size_t index) -> int {
        return aclmdlGetInputDataType(find(desc), index);
      },
      "model_desc"_a, "index"_a);
  mdl.def(
      "get_output_data_type",
      [](Address desc, std::size_t index) -> int {
        return aclmdlGetOutputDataType(find(desc), index);
      },
      "model_desc"_a, "index"_a);
  mdl.def("get_input_index_by_name", &index_of<aclmdlGetInputIndexByName>, "model_desc"_a,
          "name"_a);
  mdl.def("get_output_index_by_name", &index_of<aclmdlGetOutputIndexByName>, "model_desc"_a,
          "name"_a);
}

}  // namespace aoe::pyacl
