// Descriptor: an open file, socket or pipe of the system, closed with the object that holds it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace aoe {

class Descriptor {
 public:
  Descriptor() = default;
  /// Negative, as failed calls give it: none.
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  /// To be closed by the caller.
  int release() { return std::exchange(number_, -1); }
  /// Closes it, and holds another. `errno` stays what a call before has left there.
  void reset(int number = -1) {
    const int cause = errno;
    if (number_ >= 0) ::close(number_);
    errno = cause;
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace aoe
