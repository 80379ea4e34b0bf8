// A user's program on aoe/session.hpp, whose names are not for one with the engine's own: says how each misuse is refused.
//
//   aoe_session_client M.om INPUTS   a row of N values for each of INPUTS inputs x0, x1, ...
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "aoe/session.hpp"

namespace {

bool is_describing_to_fail = false;
int unloaded = 0;

}  // namespace

// In place of the library's, for the header above.
aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  if (is_describing_to_fail) return ACL_ERROR_BAD_ALLOC;
  static const auto real =
      reinterpret_cast<decltype(&aclmdlGetOutputDims)>(dlsym(RTLD_NEXT, "aclmdlGetOutputDims"));
  return real(modelDesc, index, dims);
}

aclError aclmdlUnload(uint32_t modelId) {
  static const auto real =
      reinterpret_cast<decltype(&aclmdlUnload)>(dlsym(RTLD_NEXT, "aclmdlUnload"));
  ++unloaded;
  return real(modelId);
}

namespace {

using Feed = std::map<std::string, aoe::TensorView>;

void say(const char* what, const aoe::Session& session, const Feed& feed) {
  try {
    const aoe::Shape shape = session.run(feed).at(0).shape();
    std::printf("%s: %zu sizes\n", what, shape.size());
  } catch (const std::invalid_argument& error) {
    std::printf("%s: %s\n", what, error.what());
  } catch (const std::exception& error) {
    std::printf("%s: another exception: %s\n", what, error.what());
  }
}

/// What cannot be described is not left loaded.
void say_what_stays_loaded(const char* om) {
  is_describing_to_fail = true;
  try {
    const aoe::Session session(om);
  } catch (const aoe::Error&) {
    std::printf("not described: %d unloaded\n", unloaded);
  }
}

Feed with(Feed feed, const std::string& name, const aoe::TensorView& tensor) {
  feed[name] = tensor;
  return feed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const aoe::Session session(argv[1]);
  const aoe::Shape shape = {2, 1, 1, 3};
  const std::vector<float> x(6, 1);
  const std::vector<double> wide(6, 1);
  Feed feed;
  for (int i = 0; i < std::atoi(argv[2]); ++i) feed["x" + std::to_string(i)] = aoe::view(x, shape);
  say("right", session, feed);
  say("nothing", session, {});
  say("other name", session, with(feed, "z", aoe::view(x, shape)));
  say("other type", session, with(feed, "x0", aoe::view(wide, shape)));
  say("other shape", session, with(feed, "x0", aoe::view(x, {3, 2})));
  say("null", session, with(feed, "x0", {nullptr, shape, ACL_FLOAT}));
  try {
    (void)aoe::view(x, {-2, -3});
  } catch (const std::invalid_argument& error) {
    std::printf("view: %s\n", error.what());
  }
  say_what_stays_loaded(argv[1]);
  return 0;
}
