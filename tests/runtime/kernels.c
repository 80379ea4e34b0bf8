/* Stands in for generated code: functions with the ABI of compiler/loopnest/loopnest.h, built as a shared object. */
#include <stdint.h>

enum { kCount = 1000 };

/* y[n-1-i] = x[i] + 1: each iteration reads what another thread may have written in the stage before. */
void reverse_plus_one(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const float* x = buffers[0];
  float* y = buffers[1];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) y[kCount - 1 - i] = x[i] + 1;
}

/* The same from y to x, for steps of two stages that use x as workspace: buffers are x, y, work. */
void reverse_into_work(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  void* const swapped[] = {buffers[0], buffers[2]};
  reverse_plus_one(swapped, begin, end, scratch);
}
void reverse_from_work(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  void* const swapped[] = {buffers[2], buffers[1]};
  reverse_plus_one(swapped, begin, end, scratch);
}

/* Rounds of kCount iterations: the first of x, each other one of what the round before has written into y. */
void reverse_round_by_round(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const int64_t round = begin / kCount;
  const float* from = round == 0 ? buffers[0] : (const float*)buffers[1] + (round - 1) * kCount;
  void* const of_round[] = {(void*)from, (float*)buffers[1] + round * kCount};
  reverse_plus_one(of_round, begin - round * kCount, end - round * kCount, scratch);
}

/* y[i] = x[i] * w[0], through the scratch of the thread. Buffers: x, y, w. */
void scale_by_constant(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const float* x = buffers[0];
  float* y = buffers[1];
  const float* w = buffers[2];
  float* own = scratch;
  for (int64_t i = begin; i < end; ++i) own[i] = x[i];
  for (int64_t i = begin; i < end; ++i) y[i] = own[i] * w[0];
}

/* y[0] = the sum of x, in one iteration. */
void sum_all(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const float* x = buffers[0];
  float* y = buffers[1];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    y[0] = 0;
    for (int j = 0; j < kCount; ++j) y[0] += x[j];
  }
}

/* y[i] = x[i] + z[i]. */
void add(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const float* x = buffers[0];
  const float* z = buffers[1];
  float* y = buffers[2];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] + z[i];
}

/* y[i] = x[i] + the iterations, by 1024, that the thread has at once. */
void add_iterations(void* const* buffers, int64_t begin, int64_t end, void* scratch) {
  const float* x = buffers[0];
  float* y = buffers[1];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] + (float)(end - begin) / 1024;
}
