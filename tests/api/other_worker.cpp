// A helper that speaks the protocol and is of another version.
#include <nlohmann/json.hpp>

#include "tuner/measure/wire.h"
#include "tuner/measure/worker.h"

int main() {
  nlohmann::json request;
  while (aoe::tuner::receive_message(aoe::tuner::kWorkerSocket, request) ==
         aoe::tuner::ReceiveStatus::kMessage)
    aoe::tuner::send_message(aoe::tuner::kWorkerSocket, {{"version", "0.0.1-0"}});
  return 0;
}
