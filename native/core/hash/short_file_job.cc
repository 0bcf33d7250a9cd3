// Reads a short file in one call of its thread, and hashes it if that is wanted.
#include "core/hash/short_file_job.h"

#include <exception>
#include <utility>

#include "core/hash/short_content.h"

namespace metainfo {

ShortFileJob::ShortFileJob(Request request, const Kernels& kernels, Budget& budget)
    : WorkerGroup(budget), request_(std::move(request)), kernels_(kernels) {
  want_workers(1, request_.max_bytes);
}

bool ShortFileJob::run_worker(WorkerThread& thread, const Served&, std::shared_ptr<void>&) noexcept try {
  // The job may end while the call is stuck: until it returns, the thread writes to its own memory only.
  std::optional<ShortFile> file;
  thread.call([&] { file = read_short_file(request_.where, request_.max_bytes); });
  if (!file) return true;
  Hashed hashed{file->status, {}, {}};
  if (request_.version) {
    const ShortContent content{file->bytes.data(), file->bytes.size(), request_.piece_length,
                               *request_.version};
    hashed.hashes.resize(content.hash_bytes());
    hash_short(content, kernels_, hashed.hashes.data());
  } else {
    hashed.bytes = std::move(file->bytes);
  }
  if (!cancelled()) outcome_ = std::move(hashed);
  return true;
} catch (const WorkerThread::Stopped&) {
  return true;
} catch (const std::exception&) {
  // Out of memory: the other job fails with a better error, or has enough.
  return true;
}

}  // namespace metainfo
