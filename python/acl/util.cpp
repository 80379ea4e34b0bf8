// acl.util: between addresses and Python's own memory. Whoever asks for an address keeps the object that it belongs to.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>
#include <vector>

#include "binding.h"

namespace aoe::pyacl {
namespace {

Address numpy_to_ptr(const py::array& array) {
  const bool is_dense = (array.flags() & py::array::c_style) != 0;
  if (!is_dense &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "the elements of this array are not in order one behind the other, as the "
                   "address would suggest: acl.util.numpy_contiguous_to_ptr copies them",
                   1) != 0)
    throw py::error_already_set();
  return address_of(array.data());
}

/// (address, array): the array that the address belongs to, the same or a dense copy.
std::tuple<Address, py::array> numpy_contiguous_to_ptr(const py::array& array) {
  py::array dense = py::array::ensure(array, py::array::c_style);
  if (!dense) throw py::error_already_set();
  const Address address = address_of(dense.data());
  return {address, std::move(dense)};
}

/// A numpy dtype, or one of numpy's type numbers (11: NPY_FLOAT32).
py::dtype dtype_of(const py::object& type) {
  py::dtype dtype = py::isinstance<py::int_>(type) && !py::isinstance<py::bool_>(type)
                        ? py::dtype(type.cast<int>())
                        : py::dtype::from_args(type);
  if (dtype.kind() == 'O' || dtype.itemsize() == 0)
    throw py::type_error("memory cannot be seen as elements of type " +
                         py::repr(dtype).cast<std::string>());
  return dtype;
}

/// A view: the array does not own the memory, which has to outlive it.
py::array ptr_to_numpy(Address address, const std::vector<py::ssize_t>& shape,
                       const py::object& type) {
  py::ssize_t count = 1;
  for (const py::ssize_t size : shape) {
    if (size < 0) throw py::value_error("negative dimensions are not allowed");
    count *= size;
  }
  if (count == 0) return {dtype_of(type), shape};
  if (address == 0) throw py::value_error("a null pointer has no elements");
  const py::capsule nobody(
      pointer_to<const void>(address));  // an array without an owner would copy
  return {dtype_of(type), shape, pointer_to(address), nobody};
}

Address bytes_to_ptr(const py::bytes& bytes) {
  return address_of(PyBytes_AS_STRING(bytes.ptr()));
}

/// A copy.
py::bytes ptr_to_bytes(Address address, std::size_t size) {
  if (address == 0 && size != 0) throw py::value_error("a null pointer has no bytes");
  return {pointer_to<const char>(address), size};
}

}  // namespace

void bind_util(py::module_& util) {
  util.def("numpy_to_ptr", &numpy_to_ptr, "array"_a);
  util.def("numpy_contiguous_to_ptr", &numpy_contiguous_to_ptr, "array"_a);
  util.def("ptr_to_numpy", &ptr_to_numpy, "ptr"_a, "shape"_a, "dtype"_a);
  util.def("bytes_to_ptr", &bytes_to_ptr, "bytes"_a);
  util.def("ptr_to_bytes", &ptr_to_bytes, "ptr"_a, "size"_a);
}

}  // namespace aoe::pyacl
