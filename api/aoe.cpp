// The functions of aoe/aoe.h: arguments checked, everything else elsewhere.
#include "aoe/aoe.h"

#include <string>

#include "api/failure.h"
#include "api/library.h"
#include "api/log_route.h"
#include "api/wall.h"

namespace {

using aoe::api::copy_options;
using aoe::api::guarded;
using aoe::api::Library;
using aoe::api::Session;

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw aoe::Error(aoe::ExitCode::kUsage, "is a null pointer", what);
}

/// Runs `use(Session&)` of an idle session.
template <typename Use>
AoeStatus with_session(uint64_t session, Use&& use) {
  return guarded([&] {
    Library::instance().with(session, use);
    return AOE_SUCCESS;
  });
}

}  // namespace

AoeStatus AoeInitialize(const AoeOption* options, size_t count) {
  return guarded([&] {
    Library::instance().initialize(copy_options(options, count));
    return AOE_SUCCESS;
  });
}

AoeStatus AoeFinalize(void) {
  return guarded([] {
    Library::instance().finalize();
    return AOE_SUCCESS;
  });
}

AoeStatus AoeCreateSession(uint64_t* session) {
  return guarded([&] {
    require(session, "session");
    *session = Library::instance().create_session();
    return AOE_SUCCESS;
  });
}

AoeStatus AoeDestroySession(uint64_t session) {
  return guarded([&] {
    Library::instance().destroy_session(session);
    return AOE_SUCCESS;
  });
}

AoeStatus AoeSetTuningGraph(uint64_t session, const AoeGraph* graph) {
  return with_session(session, [&](Session& each) {
    require(graph, "graph");
    each.set_graph(*graph);
  });
}

AoeStatus AoeSetTuningGraphInput(uint64_t session, const AoeTensor* inputs, size_t count) {
  return with_session(session, [&](Session& each) { each.set_inputs(inputs, count); });
}

AoeStatus AoeSetDependGraphs(uint64_t session, const AoeGraph*, size_t count) {
  return with_session(session, [&](Session&) {
    if (count > 0)
      throw aoe::api::Failure(AOE_ERROR_NO_SUPPORT, "an ONNX model depends on no other",
                              "AoeSetDependGraphs()", "put all into one model");
  });
}

AoeStatus AoeTuningGraph(uint64_t session, const AoeOption* options, size_t count) {
  return guarded([&] {
    Library::instance().tune(session, copy_options(options, count));
    return AOE_SUCCESS;
  });
}

AoeStatus AoeStopTuning(uint64_t session) {
  return guarded([&] {
    Library::instance().stop(session);
    return AOE_SUCCESS;
  });
}

AoeStatus AoeSetProgressCallback(uint64_t session, AoeProgressCallback callback, void* user) {
  return with_session(session, [&](Session& each) { each.set_progress(callback, user); });
}

AoeStatus AoeSetLogCallback(AoeLogCallback callback, void* user) {
  return guarded([&] {
    aoe::api::route_log(callback, user);
    return AOE_SUCCESS;
  });
}

AoeStatus AoeGetTuningResultCount(uint64_t session, size_t* count) {
  return with_session(session, [&](Session& each) {
    require(count, "count");
    *count = each.result_count();
  });
}

AoeStatus AoeGetTuningResult(uint64_t session, size_t index, const AoeTuningResult** result) {
  return with_session(session, [&](Session& each) {
    require(result, "result");
    *result = &each.result(index);
  });
}

const char* AoeGetLastError(void) {
  return aoe::api::last_error();
}

const char* AoeGetVersion(void) {
  return AOE_VERSION;
}
