/* Watches a model's ops while it runs: a subscription writes a record of each into a pipe, which a thread reads.
 *
 *   profiling_subscribe MODEL.om [RUNS]     one line for each record: op, type, model, microseconds, operations
 *
 * For models with static shapes; the inputs are zeros. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"

#define CHECK(call)                                                             \
  do {                                                                          \
    const aclError status = (call);                                             \
    if (status != ACL_SUCCESS) {                                                \
      const char* message = aclGetRecentErrMsg();                               \
      fprintf(stderr, "%s -> %d %s\n", #call, status, message ? message : "-"); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

enum { kRecordsPerRead = 10 };

static void print_record(const void* records, size_t size, uint32_t i) {
  size_t name_length = 0, type_length = 0;
  CHECK(aclprofGetOpNameLen(records, size, i, &name_length));
  CHECK(aclprofGetOpTypeLen(records, size, i, &type_length));
  char* const name = malloc(name_length);
  char* const type = malloc(type_length);
  if (name == NULL || type == NULL) exit(1);
  CHECK(aclprofGetOpName(records, size, i, name, name_length)); /* each can be read once */
  CHECK(aclprofGetOpType(records, size, i, type, type_length));
  printf("%-24s %-20s model %zu  %" PRIu64 " us from %" PRIu64 "  cube %" PRIu64 " vector %" PRIu64
         "\n",
         name, type, aclprofGetModelId(records, size, i), aclprofGetOpDuration(records, size, i),
         aclprofGetOpStart(records, size, i), aclprofGetOpCubeFops(records, size, i),
         aclprofGetOpVectorFops(records, size, i));
  free(name);
  free(type);
}

/* Until the other end is closed. A read may end in the middle of a record: the rest of it comes with the next. */
static void* read_records(void* descriptor) {
  const int from = *(const int*)descriptor;
  size_t record_size = 0, filled = 0;
  CHECK(aclprofGetOpDescSize(&record_size));
  char* const buffer = malloc(kRecordsPerRead * record_size);
  if (buffer == NULL) exit(1);
  for (;;) {
    const ssize_t n = read(from, buffer + filled, kRecordsPerRead * record_size - filled);
    if (n <= 0) break;
    filled += (size_t)n;
    const size_t whole = filled / record_size * record_size;
    if (whole == 0) continue;
    uint32_t count = 0;
    CHECK(aclprofGetOpNum(buffer, whole, &count));
    for (uint32_t i = 0; i < count; ++i) print_record(buffer, whole, i);
    memmove(buffer, buffer + whole, filled - whole);
    filled -= whole;
  }
  free(buffer);
  return NULL;
}

static aclmdlDataset* dataset_of(aclmdlDesc* desc, size_t count,
                                 size_t (*size_of)(aclmdlDesc*, size_t)) {
  aclmdlDataset* const dataset = aclmdlCreateDataset();
  for (size_t i = 0; i < count; ++i) {
    const size_t size = size_of(desc, i);
    void* memory = NULL;
    CHECK(aclrtMalloc(&memory, size > 0 ? size : 1, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(memory, size, 0, size));
    CHECK(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, size)));
  }
  return dataset;
}

static void destroy(aclmdlDataset* dataset) {
  for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* const buffer = aclmdlGetDatasetBuffer(dataset, i);
    CHECK(aclrtFree(aclGetDataBufferAddr(buffer)));
    CHECK(aclDestroyDataBuffer(buffer));
  }
  CHECK(aclmdlDestroyDataset(dataset));
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: profiling_subscribe MODEL.om [RUNS]\n");
    return 2;
  }
  const int runs = argc > 2 ? atoi(argv[2]) : 1;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  uint32_t model = 0;
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  aclmdlDesc* const desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, model));
  aclmdlDataset* const inputs =
      dataset_of(desc, aclmdlGetNumInputs(desc), aclmdlGetInputSizeByIndex);
  aclmdlDataset* const outputs =
      dataset_of(desc, aclmdlGetNumOutputs(desc), aclmdlGetOutputSizeByIndex);

  int ends[2];
  if (pipe(ends) != 0) {
    perror("pipe");
    return 1;
  }
  pthread_t reader;
  if (pthread_create(&reader, NULL, read_records, &ends[0]) != 0) return 1;
  aclprofSubscribeConfig* const config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &ends[1]);
  CHECK(aclprofModelSubscribe(model, config));
  for (int i = 0; i < runs; ++i) CHECK(aclmdlExecute(model, inputs, outputs));
  CHECK(aclprofModelUnSubscribe(model)); /* closes ends[1] */
  CHECK(aclprofDestroySubscribeConfig(config));
  pthread_join(reader, NULL);
  close(ends[0]);

  destroy(inputs);
  destroy(outputs);
  CHECK(aclmdlDestroyDesc(desc));
  CHECK(aclmdlUnload(model));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
