/* Tunes a model in this process: first its subgraphs, then its operators, then tells what was gained.
 *
 *   aoe_tune MODEL.onnx OUTPUT [KEY=VALUE ...]      options as aoe's flags: preset=quick trials=20 ...
 */
#include <aoe/aoe.h>
#include <stdio.h>
#include <string.h>

enum { kMostOptions = 32 };

static void show(uint64_t session, const AoeProgress* progress, void* user) {
  int* last = user;
  (void)session;
  if (progress->stage != AOE_STAGE_SEARCH || progress->tasks_done == *last) return;
  *last = progress->tasks_done;
  printf("%s: %d of %d tasks\n", progress->tuning_name, progress->tasks_done,
         progress->tasks_total);
}

static int failed(const char* step) {
  fprintf(stderr, "aoe_tune: %s: %s\n", step, AoeGetLastError());
  return 1;
}

/* 12 says that there is nothing to tune, and that the model is compiled all the same. */
static int tune(uint64_t session, AoeOption* options, size_t count, const char* job_type) {
  options[0].value = job_type;
  const AoeStatus status = AoeTuningGraph(session, options, count);
  return status == AOE_SUCCESS || status == AOE_ERROR_NON_OPTIMIZE_GRAPH;
}

int main(int argc, char** argv) {
  AoeOption options[kMostOptions] = {{"job_type", "1"}, {"output", argc > 2 ? argv[2] : ""}};
  size_t count = 2;
  if (argc < 3 || argc - 3 > kMostOptions - 2) {
    fprintf(stderr, "usage: aoe_tune MODEL.onnx OUTPUT [KEY=VALUE ...]\n");
    return 2;
  }
  for (int i = 3; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    if (value == NULL) return fprintf(stderr, "aoe_tune: %s is not KEY=VALUE\n", argv[i]), 2;
    *value = '\0';
    options[count++] = (AoeOption){argv[i], value + 1};
  }

  uint64_t session = 0;
  int tasks_done = -1;
  const AoeGraph model = {.path = argv[1]};
  if (AoeInitialize(NULL, 0) != AOE_SUCCESS) return failed("AoeInitialize");
  if (AoeCreateSession(&session) != AOE_SUCCESS) return failed("AoeCreateSession");
  if (AoeSetTuningGraph(session, &model) != AOE_SUCCESS) return failed("AoeSetTuningGraph");
  if (AoeSetProgressCallback(session, show, &tasks_done) != AOE_SUCCESS)
    return failed("AoeSetProgressCallback");
  if (!tune(session, options, count, "1")) return failed("subgraphs");
  if (!tune(session, options, count, "2")) return failed("operators");

  const AoeTuningResult* result = NULL;
  if (AoeGetTuningResult(session, 0, &result) != AOE_SUCCESS) return failed("AoeGetTuningResult");
  printf("%s: %.3f ms before, %.3f ms after (%s), %zu strategies won\n", result->tuning_name,
         result->baseline_ms, result->result_ms, result->verdict, result->gain_count);
  printf("model: %s\n", result->output_path);
  if (AoeDestroySession(session) != AOE_SUCCESS) return failed("AoeDestroySession");
  if (AoeFinalize() != AOE_SUCCESS) return failed("AoeFinalize");
  return 0;
}
