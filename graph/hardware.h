// What rewrites, and passes that cut graphs into parts, may ask of the machine that a graph is compiled for, to guess what pays.
// compiler/soc.h fills it.
#pragma once

#include <cstdint>

namespace aoe::graph {

struct Hardware {
  int threads = 1;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;  ///< of all cores
  double flops_per_ns = 200;         ///< of a thread, in products
  double l3_bytes_per_ns = 60;       ///< that a thread reads for them, and of memory
  double memory_bytes_per_ns = 25;
  /// Multiply-adds in full vectors that take a core about as long as writing an element and reading it again.
  double products_per_element = 32;
  /// Strassen's sums of blocks: those of rows take about as long as a product with this many columns,
  double strassen_row_columns = 10;
  /// and those of results as this many steps of one.
  double strassen_result_steps = 7;
};

}  // namespace aoe::graph
