/* A user's program in C99 against the installed headers and libascendcl alone: runs an om of one float input and one
 * float output in the canonical order, prints the outputs. usage: aoe_acl_client MODEL.om */
#include <stdio.h>
#include <stdlib.h>

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

static aclDataBuffer* add_buffer(aclmdlDataset* dataset, size_t size) {
  void* memory = NULL;
  CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  aclDataBuffer* buffer = aclCreateDataBuffer(memory, size);
  CHECK(aclmdlAddDatasetBuffer(dataset, buffer));
  return buffer;
}

static void destroy_dataset(aclmdlDataset* dataset) {
  for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* buffer = aclmdlGetDatasetBuffer(dataset, i);
    CHECK(aclrtFree(aclGetDataBufferAddr(buffer)));
    CHECK(aclDestroyDataBuffer(buffer));
  }
  CHECK(aclmdlDestroyDataset(dataset));
}

int main(int argc, char** argv) {
  uint32_t model = 0;
  size_t work_size = 0, weight_size = 0;
  aclrtContext context = NULL;
  aclrtStream stream = NULL;
  if (argc != 2) return 2;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateContext(&context, 0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclmdlQuerySize(argv[1], &work_size, &weight_size));
  CHECK(aclmdlLoadFromFile(argv[1], &model));

  aclmdlDesc* desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, model));
  aclmdlDataset* inputs = aclmdlCreateDataset();
  aclmdlDataset* outputs = aclmdlCreateDataset();
  float* x = aclGetDataBufferAddr(add_buffer(inputs, aclmdlGetInputSizeByIndex(desc, 0)));
  float* y = aclGetDataBufferAddr(add_buffer(outputs, aclmdlGetOutputSizeByIndex(desc, 0)));
  for (size_t i = 0; i < aclmdlGetInputSizeByIndex(desc, 0) / sizeof(float); ++i) x[i] = (float)i;

  CHECK(aclmdlExecuteAsync(model, inputs, outputs, stream));
  CHECK(aclrtSynchronizeStream(stream));
  printf("%s:", aclmdlGetOutputNameByIndex(desc, 0));
  for (size_t i = 0; i < aclmdlGetOutputSizeByIndex(desc, 0) / sizeof(float); ++i)
    printf(" %g", (double)y[i]);
  printf("\n");

  destroy_dataset(inputs);
  destroy_dataset(outputs);
  CHECK(aclmdlDestroyDesc(desc));
  CHECK(aclmdlUnload(model));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyContext(context));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
