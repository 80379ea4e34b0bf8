// Failures with the code that the caller of the library shall get.
#pragma once

#include <string>
#include <utility>

#include "aoe/aoe.h"
#include "base/error.h"

namespace aoe::api {

class Failure : public Error {
 public:
  Failure(AoeStatus status, std::string what, std::string where = {}, std::string advice = {})
      : Error(ExitCode::kUsage, std::move(what), std::move(where), std::move(advice)),
        status_(status) {}
  AoeStatus status() const { return status_; }

 private:
  AoeStatus status_;
};

}  // namespace aoe::api
