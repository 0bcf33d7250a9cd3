// The parts of Reader that do not depend on the system.
#include "core/files/reader.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace metainfo {

Reader::Reader(RequestedFile file, WorkerThread* thread, const RootFolder* root)
    : file_(std::move(file)), thread_(thread) {
  if (file_.data != nullptr) return;
  // If the thread is given up while it opens the file, the file is open and must be closed.
  try {
    call_system([&] { open(root); });
    Status now;
    call_system([&] { now = status(); });
    if (!now.is_regular) throw Failure{Failure::Code::not_a_file, 0, file_.path, {}};
    require_unchanged(now);
  } catch (...) {
    close_file();
    if (thread_ != nullptr) thread_->check_gone();
    throw;
  }
}

Reader::~Reader() { close_file(); }

void Reader::close_file() noexcept {
  if (descriptor_ == kNone) return;
  if (thread_ != nullptr) {
    thread_->must_call([this] { close(); });
  } else {
    close();
  }
}

void Reader::will_need(std::uint64_t offset, std::uint64_t size) const {
  if (descriptor_ != kNone) call_system([&] { advise(offset, size); });
}

void Reader::read(std::uint64_t offset, std::uint8_t* out, std::size_t size) const {
  if (file_.data != nullptr) {
    std::copy_n(file_.data + file_.offset + offset, size, out);
    return;
  }
  while (size != 0) {
    std::size_t count = 0;
    call_system([&] { count = read_some(file_.offset + offset, out, size); });
    if (count == 0) {
      throw Failure{
          Failure::Code::changed, 0, file_.path,
          "it ended at byte " + std::to_string(file_.offset + offset) + " of " + std::to_string(file_.size)};
    }
    out += count;
    size -= count;
    offset += count;
  }
}

void Reader::check_unchanged() const {
  if (descriptor_ == kNone) return;
  Status now;
  call_system([&] { now = status(); });
  require_unchanged(now);
}

void Reader::require_unchanged(const Status& now) const {
  const auto changed = [this](std::string what) {
    return Failure{Failure::Code::changed, 0, file_.path, std::move(what)};
  };
  if (now.size != file_.size) {
    throw changed("its size went from " + std::to_string(file_.size) + " to " + std::to_string(now.size) +
                  " bytes");
  }
  if (now.is_deleted) throw changed("it was deleted or replaced");
  if (!std::isnan(file_.mtime_ms) && now.mtime_ms != file_.mtime_ms)
    throw changed("its modification time changed");
}

}  // namespace metainfo
