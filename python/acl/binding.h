// What the files of this extension share: how C values look in Python.
//
// The conventions are pyACL's: a call with one result returns the error code; one with out parameters returns them and then
// the code, as a tuple; what makes an object returns its handle, 0 on failure. Handles and addresses are ints. Arguments of
// a wrong type raise TypeError before the C function is called.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <filesystem>
#include <tuple>

#include "acl/acl.h"

namespace aoe::pyacl {

namespace py = pybind11;
using namespace py::literals;

/// An address or a handle, as Python has it.
using Address = std::uintptr_t;

template <typename T = void>
T* pointer_to(Address address) {
  return reinterpret_cast<T*>(address);
}

inline Address address_of(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}

/// Text of the C API; bytes that are no UTF-8 become U+FFFD. NULL becomes "".
py::str text_of(const char* text);

/// Runs what may take long, so that other Python threads go on meanwhile.
template <typename Body>
auto without_gil(Body&& body) {
  const py::gil_scoped_release released;
  return body();
}

/// One function a file: each adds its functions to a module.
void bind_buffers(py::module_& acl);
void bind_collection(py::module_& prof);
void bind_constants(py::module_& acl);
void bind_datasets(py::module_& mdl);
void bind_descriptions(py::module_& mdl);
void bind_devices(py::module_& rt);
void bind_gears(py::module_& mdl);
void bind_memory(py::module_& rt);
void bind_models(py::module_& mdl);
void bind_prof_constants(py::module_& acl, py::module_& prof);
void bind_stamps(py::module_& prof);
void bind_subscription(py::module_& prof);
void bind_texts(py::module_& mdl);
void bind_util(py::module_& util);

}  // namespace aoe::pyacl
