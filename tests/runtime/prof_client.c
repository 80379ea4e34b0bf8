/* A user's program in C99 that profiles itself: the canonical order, once. usage: aoe_prof_client MODEL.om DIR */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static aclmdlDataset* dataset_of(size_t size) {
  void* memory = NULL;
  aclmdlDataset* dataset = aclmdlCreateDataset();
  CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemset(memory, size, 0, size));
  CHECK(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, size)));
  return dataset;
}

static void destroy(aclmdlDataset* dataset) {
  aclDataBuffer* buffer = aclmdlGetDatasetBuffer(dataset, 0);
  CHECK(aclrtFree(aclGetDataBufferAddr(buffer)));
  CHECK(aclDestroyDataBuffer(buffer));
  CHECK(aclmdlDestroyDataset(dataset));
}

int main(int argc, char** argv) {
  uint32_t devices[] = {0};
  uint32_t model = 0;
  int i = 0;
  if (argc != 3) return 2;
  CHECK(aclInit(NULL));
  CHECK(aclprofInit(argv[2], strlen(argv[2])));
  CHECK(aclrtSetDevice(0));
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  aclmdlDesc* desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, model));
  aclmdlDataset* inputs = dataset_of(aclmdlGetInputSizeByIndex(desc, 0));
  aclmdlDataset* outputs = dataset_of(aclmdlGetOutputSizeByIndex(desc, 0));

  CHECK(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", strlen("200MB")));
  aclprofConfig* config = aclprofCreateConfig(
      devices, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
      ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_MSPROFTX);
  CHECK(aclprofStart(config));
  for (i = 0; i < 3; ++i) CHECK(aclmdlExecute(model, inputs, outputs));
  CHECK(aclprofStop(config));
  CHECK(aclmdlExecute(model, inputs, outputs)); /* between two collections: in none */
  CHECK(aclprofStart(config));
  CHECK(aclmdlExecute(model, inputs, outputs));
  CHECK(aclprofStop(config));
  CHECK(aclprofDestroyConfig(config));

  destroy(inputs);
  destroy(outputs);
  CHECK(aclmdlDestroyDesc(desc));
  CHECK(aclprofFinalize());
  CHECK(aclmdlUnload(model));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
