// What a job is told and what it answers. JavaScript has checked every value; see src/hash/plan.ts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace metainfo {

enum class Version { v1, v2, hybrid };

struct PlanFile {
  std::string
      path;  // bytes as the system wants them, no link in it; empty for a pad, and for content in memory
  const std::uint8_t* data =
      nullptr;               // content in memory: it stays there, unchanged, until the job is settled
  bool pad = false;          // zeros that no file holds
  std::uint64_t offset = 0;  // where the content begins in the file on disk
  std::uint64_t length = 0;  // bytes of content
  std::uint64_t size = 0;    // the whole file's size when it was planned
  double mtime_ms = 0;       // its mtime then, as Node's fs.Stats.mtimeMs; NaN: not checked
};

struct Plan {
  std::vector<PlanFile> files;
  Version version = Version::v1;
  std::uint64_t piece_length = 0;
  bool mark_missing = false;  // a file that does not exist is listed in `missing` instead of failing the job
  unsigned threads = 1;
  std::size_t read_size = 0;     // bytes a read at most: a multiple of 16 KiB
  std::size_t memory_limit = 0;  // bytes of all buffers; each worker has one of a read at least
};

struct Digests {
  std::vector<std::uint8_t> v1;      // 20 bytes a piece; zeros where a missing file is touched
  std::vector<std::uint8_t> roots;   // 32 bytes a file of the plan; zeros for pads, empty and missing files
  std::vector<std::uint8_t> layers;  // 32 bytes a piece of every file longer than a piece, in file order
  std::vector<std::uint32_t> missing;
};

// Why a job failed: thrown inside the core, translated once at the border.
struct Failure {
  enum class Code { open, read, changed, not_a_file, no_memory, no_thread, aborted, internal };
  Code code = Code::internal;
  int error = 0;  // errno, where there is one
  std::string path;
  std::string detail;
};

}  // namespace metainfo
