// aoe_worker: measures candidates for whoever tunes. Started by the library, never by hand.
#include <cstdio>

#include "tuner/measure/worker.h"

int main(int argc, char** argv) {
  aoe::tuner::run_if_worker(argc, argv);
  std::fputs("aoe_worker: error: is started by aoe and libaoe, which talk to it\n", stderr);
  return 2;
}
