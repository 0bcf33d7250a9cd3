// An open regular file that must stay what it was when the job was planned; or content that is in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"
#include "core/seat.h"

namespace metainfo {

class Reader {
 public:
  // Throws Failure; follows no link, in no part of the path. Calls of the system are made on the seat, if
  // there is one: then all but the destructor also throw Seat::Left.
  explicit Reader(const PlanFile& file, Seat* seat = nullptr);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Exactly `size` bytes from `offset` of the content, or a Failure: a short read is never an end.
  void read(std::uint64_t offset, std::uint8_t* out, std::size_t size) const;

  // These bytes will be read soon: the system may fetch them meanwhile.
  void will_need(std::uint64_t offset, std::uint64_t size) const;

  // Throws a Failure when the file is no longer what was planned.
  void check_unchanged() const;

 private:
  struct Status {
    bool is_regular = false;
    bool is_deleted = false;
    std::uint64_t size = 0;
    double mtime_ms = 0;
  };

  // The system's part: reader_posix.cc, reader_win32.cc. These throw a Failure.
  void open();
  Status status() const;
  std::size_t read_some(std::uint64_t at, std::uint8_t* out,
                        std::size_t size) const;  // 0: the file ends there
  void close();

  template <typename Call>
  void on_seat(Call call) const {
    if (seat_ != nullptr) {
      seat_->call(call);
    } else {
      call();
    }
  }
  void close_on_seat() noexcept;
  void require_unchanged(const Status& now) const;
  void advise(std::uint64_t offset, std::uint64_t size) const;

  const PlanFile& file_;
  Seat* const seat_;
  static constexpr std::intptr_t kNone = -1;
  std::intptr_t descriptor_ = kNone;  // on Windows a HANDLE; none for content in memory
};

// What stat(2) says of a path, in Node's units; on Windows what Node makes of it.
struct FileStatus {
  int error = 0;  // errno; the rest is 0 then
  double mode = 0;
  double size = 0;
  double mtime_ms = 0;
  double ctime_ms = 0;  // when anything of it changed last, its times too: nobody can set it back
  double device = 0;
  double inode = 0;
};
FileStatus file_status(const char* path);

}  // namespace metainfo
