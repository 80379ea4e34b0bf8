// acl.mdl: dynamic gears. The `index` of the getters is reserved; programs pass -1.
#include <pybind11/stl.h>

#include <algorithm>
#include <vector>

#include "dims.h"
#include "handles.h"

namespace aoe::pyacl {
namespace {

aclmdlDesc* find(Address desc) {
  return descriptions().find(desc).get();
}

std::tuple<py::dict, aclError> get_dynamic_batch(Address desc) {
  aclmdlBatch batch{};
  const aclError code = aclmdlGetDynamicBatch(find(desc), &batch);
  py::list sizes;
  for (std::size_t i = 0; i < batch.batchCount; ++i) sizes.append(batch.batch[i]);
  return {py::dict("batchCount"_a = batch.batchCount, "batch"_a = sizes), code};
}

std::tuple<py::dict, aclError> get_dynamic_hw(Address desc, std::int64_t index) {
  aclmdlHW hw{};
  const aclError code = aclmdlGetDynamicHW(find(desc), static_cast<std::size_t>(index), &hw);
  py::list sizes;
  for (std::size_t i = 0; i < hw.hwCount; ++i) {
    py::list height_width;
    height_width.append(hw.hw[i][0]);
    height_width.append(hw.hw[i][1]);
    sizes.append(height_width);
  }
  return {py::dict("hwCount"_a = hw.hwCount, "hw"_a = sizes), code};
}

std::tuple<std::size_t, aclError> get_input_dynamic_gear_count(Address desc, std::int64_t index) {
  std::size_t count = 0;
  const aclError code =
      aclmdlGetInputDynamicGearCount(find(desc), static_cast<std::size_t>(index), &count);
  return {count, code};
}

std::tuple<py::list, aclError> get_input_dynamic_dims(Address desc, std::int64_t index,
                                                      std::size_t gear_count) {
  std::size_t known = 0;
  aclmdlGetInputDynamicGearCount(find(desc), static_cast<std::size_t>(index), &known);
  std::vector<aclmdlIODims> gears(std::min(gear_count, known + 1));  // too many is too many
  const aclError code = aclmdlGetInputDynamicDims(find(desc), static_cast<std::size_t>(index),
                                                  gears.data(), gears.size());
  py::list all;
  if (code == ACL_SUCCESS)
    for (std::size_t gear = 0; gear < known; ++gear) all.append(dict_of(gears[gear]));
  return {all, code};
}

aclError set_dynamic_batch_size(std::uint32_t model, Address dataset, std::size_t index,
                                std::uint64_t batch) {
  return aclmdlSetDynamicBatchSize(model, DatasetInUse(dataset).get(), index, batch);
}

aclError set_dynamic_hw_size(std::uint32_t model, Address dataset, std::size_t index,
                             std::uint64_t height, std::uint64_t width) {
  return aclmdlSetDynamicHWSize(model, DatasetInUse(dataset).get(), index, height, width);
}

aclError set_input_dynamic_dims(std::uint32_t model, Address dataset, std::size_t index,
                                const py::dict& dims) {
  const aclmdlIODims given = dims_of(dims);
  return aclmdlSetInputDynamicDims(model, DatasetInUse(dataset).get(), index, &given);
}

}  // namespace

aclmdlIODims dims_of(const py::dict& dict) {
  std::vector<std::int64_t> sizes;
  std::size_t count = 0;
  try {
    sizes = py::cast<std::vector<std::int64_t>>(dict["dims"]);
    count = dict.contains("dimCount") ? py::cast<std::size_t>(dict["dimCount"]) : sizes.size();
  } catch (const py::cast_error&) {
    throw py::type_error("'dims' is a list of ints, 'dimCount' an int");
  }
  if (count > sizes.size() || count > ACL_MAX_DIM_CNT)
    throw py::value_error("'dimCount' is more than 'dims' has, or than 128");
  aclmdlIODims dims{};
  dims.dimCount = count;
  std::copy_n(sizes.begin(), count, dims.dims);
  return dims;
}

void bind_gears(py::module_& mdl) {
  mdl.def("get_dynamic_batch", &get_dynamic_batch, "model_desc"_a);
  mdl.def("get_dynamic_hw", &get_dynamic_hw, "model_desc"_a, "index"_a);
  mdl.def("get_input_dynamic_gear_count", &get_input_dynamic_gear_count, "model_desc"_a, "index"_a);
  mdl.def("get_input_dynamic_dims", &get_input_dynamic_dims, "model_desc"_a, "index"_a,
          "gear_count"_a);
  mdl.def("set_dynamic_batch_size", &set_dynamic_batch_size, "model_id"_a, "dataset"_a, "index"_a,
          "batch_size"_a);
  mdl.def("set_dynamic_hw_size", &set_dynamic_hw_size, "model_id"_a, "dataset"_a, "index"_a,
          "height"_a, "width"_a);
  mdl.def("set_input_dynamic_dims", &set_input_dynamic_dims, "model_id"_a, "dataset"_a, "index"_a,
          "dims"_a);
}

}  // namespace aoe::pyacl
