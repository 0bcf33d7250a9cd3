// Passes the files and fields of a torrent to lt::create_torrent and encodes the result.
#include "libtorrent/create_task.h"

#include <exception>
#include <iterator>
#include <libtorrent/bdecode.hpp>
#include <libtorrent/bencode.hpp>
#include <libtorrent/create_torrent.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/posix_disk_io.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/settings_pack.hpp>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace metainfo {
namespace {

namespace lt = libtorrent;

// Thrown from libtorrent's progress callback: there is no other way to cancel it.
struct Cancelled : std::exception {};

lt::file_storage storage_of(const CreateRequest& request) {
  lt::file_storage files;
  for (const SourceFile& file : request.files) {
    lt::file_flags_t flags{};
    if (file.executable) flags |= lt::file_storage::flag_executable;
    if (file.hidden) flags |= lt::file_storage::flag_hidden;
    files.add_file(file.path, file.size, flags);
  }
  return files;
}

// Copies every key of a bencoded dictionary into `into`, replacing keys that are there.
void merge(lt::entry& into, const std::string& bencoded) {
  lt::entry from = lt::bdecode(bencoded);
  for (auto& [key, value] : from.dict()) into[key] = std::move(value);
}

}  // namespace

void CreateTask::start(const std::function<void()>& finished) {
  try {
    thread_ = std::thread([this, finished] {
      run();
      finished();
    });
  } catch (const std::system_error& error) {
    outcome_.message = error.what();
    outcome_.error = error.code().value();
    finished();
  }
}

void CreateTask::run() noexcept {
  try {
    make();
  } catch (const Cancelled&) {
    outcome_.end = End::cancelled;
  } catch (const lt::system_error& error) {
    outcome_.message = error.code().message();
    if (error.code().category() == lt::system_category() || error.code().category() == lt::generic_category())
      outcome_.error = error.code().value();
  } catch (const std::exception& error) {
    outcome_.message = error.what();
  } catch (...) {
    outcome_.message = "libtorrent threw something that is not a std::exception";
  }
}

void CreateTask::make() {
  lt::file_storage files = storage_of(request_);
  lt::create_flags_t flags{};
  if (!request_.v2) flags = lt::create_torrent::v1_only;
  if (!request_.v1) flags = lt::create_torrent::v2_only;
  lt::create_torrent torrent(files, request_.piece_length, flags);
  torrent.set_creation_date(0);

  // libtorrent hashes the files that the storage names, and the torrent keeps a reference to the storage. So
  // while it hashes, the storage has the paths on disk instead of the names in the torrent. libtorrent may
  // have changed the order of files and added pad files.
  std::vector<std::pair<lt::file_index_t, std::string>> names;
  std::map<std::string, const SourceFile*> sources;
  for (const SourceFile& file : request_.files) sources.emplace(file.path, &file);
  for (const lt::file_index_t index : files.file_range()) {
    if (files.pad_file_at(index)) continue;
    names.emplace_back(index, files.file_path(index));
    files.rename_file(index, sources.at(names.back().second)->disk_path);
  }
  lt::error_code error;
  // Reads files instead of mapping them, although that uses only one thread: if a mapped file were truncated,
  // SIGBUS would end the process.
  lt::set_piece_hashes(
      torrent, "/", lt::default_settings(), lt::posix_disk_io_constructor,
      [this](lt::piece_index_t) {
        if (cancelled_) throw Cancelled();
        ++pieces_;
      },
      error);
  if (cancelled_) throw Cancelled();
  if (error) throw lt::system_error(error);
  for (const auto& [index, name] : names) files.rename_file(index, name);

  lt::entry entry = torrent.generate();
  merge(entry["info"], request_.info);
  merge(entry, request_.outer);
  lt::bencode(std::back_inserter(outcome_.torrent), entry);
  outcome_.end = End::made;
}

}  // namespace metainfo
