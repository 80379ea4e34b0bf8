// The rules of order.
#include "api/library.h"

#include <utility>

#include "api/failure.h"
#include "base/log.h"

namespace aoe::api {
namespace {

constexpr const char* kWait = "wait for AoeTuningGraph(), or call AoeStopTuning()";

}  // namespace

Library& Library::instance() {
  static auto* const library = new Library;  // threads of the caller may outlive main()
  return *library;
}

void Library::require_initialized() const {
  if (!is_initialized_)
    throw Failure(AOE_ERROR_UNINITIALIZED, "the library is not initialized", {},
                  "call AoeInitialize() first");
}

Library::Entry& Library::find(std::uint64_t id) {
  require_initialized();
  const auto found = sessions_.find(id);
  if (found == sessions_.end())
    throw Failure(AOE_ERROR_INVALID_SESSION, "there is no session " + std::to_string(id), {},
                  "call AoeCreateSession() first");
  return found->second;
}

Library::Entry& Library::idle(std::uint64_t id) {
  Entry& entry = find(id);
  if (entry.is_tuning)
    throw Failure(AOE_ERROR_BUSY, "session " + std::to_string(id) + " is tuning", {}, kWait);
  return entry;
}

void Library::initialize(OptionList options) {
  const std::lock_guard lock(mutex_);
  if (is_initialized_)
    throw Failure(AOE_ERROR_REPEAT_INITIALIZE, "the library is initialized", {},
                  "call AoeFinalize() first");
  const auto values = parse_options(options, {});
  if (values.contains("log") && !set_log_level(values["log"].as<std::string>()))
    throw Error(ExitCode::kUsage, "unknown level '" + values["log"].as<std::string>() + "'", "log");
  options_ = std::move(options);
  is_initialized_ = true;
}

void Library::finalize() {
  const std::lock_guard lock(mutex_);
  require_initialized();
  if (is_tuning_) throw Failure(AOE_ERROR_BUSY, "a session is tuning", {}, kWait);
  sessions_.clear();
  options_.clear();
  is_initialized_ = false;
}

std::uint64_t Library::create_session() {
  const std::lock_guard lock(mutex_);
  require_initialized();
  const std::uint64_t id = next_id_++;
  sessions_[id].session = std::make_shared<Session>(id);
  return id;
}

void Library::destroy_session(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  idle(id);
  sessions_.erase(id);
}

void Library::tune(std::uint64_t id, const OptionList& options) {
  std::shared_ptr<Session> session;
  OptionList defaults;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = idle(id);
    if (is_tuning_) throw Failure(AOE_ERROR_BUSY, "another session is tuning", {}, kWait);
    entry.is_tuning = is_tuning_ = true;
    session = entry.session;
    session->begin();
    defaults = options_;
  }
  struct Turn {  // nobody else can remove the entry meanwhile
    Library& library;
    std::uint64_t id;
    ~Turn() {
      const std::lock_guard lock(library.mutex_);
      library.sessions_.at(id).is_tuning = library.is_tuning_ = false;
    }
  } const turn{*this, id};
  session->tune(options, defaults);
}

void Library::stop(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  Entry& entry = find(id);
  if (entry.is_tuning) entry.session->stop();
}

}  // namespace aoe::api
