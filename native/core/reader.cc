#include "core/reader.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace metainfo {

Reader::Reader(const PlanFile& file) : file_(file) {
  if (file.data != nullptr) return;
  open();
  try {
    if (!status().is_regular) throw Failure{Failure::Code::not_a_file, 0, file.path, {}};
    check_unchanged();
  } catch (...) {
    close();
    throw;
  }
}

Reader::~Reader() {
  if (descriptor_ != kNone) close();
}

void Reader::read(std::uint64_t offset, std::uint8_t* out, std::size_t size) const {
  if (file_.data != nullptr) {
    std::copy_n(file_.data + file_.offset + offset, size, out);
    return;
  }
  while (size != 0) {
    const std::size_t count = read_some(file_.offset + offset, out, size);
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
  const Status now = status();
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
