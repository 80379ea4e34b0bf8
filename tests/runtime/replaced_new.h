// The global operators new and delete of a program that counts or refuses allocations (replaced_new.cpp is one of its sources).
#pragma once

#include <cstddef>

namespace aoe::runtime::tests {

/// What operator new gives: the test defines it.
void* memory_for(std::size_t size);

/// Throws std::bad_alloc.
void* from_malloc(std::size_t size);

}  // namespace aoe::runtime::tests
