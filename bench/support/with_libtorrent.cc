// Makes a torrent with libtorrent: with_libtorrent VERSION PIECE_LENGTH THREADS OUTPUT PATH. Unlike the Python binding, it can
// set the number of hashing threads.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <libtorrent/bencode.hpp>
#include <libtorrent/create_torrent.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/version.hpp>
#include <string>

namespace {

lt::create_flags_t flags_of(const std::string& version) {
  if (version == "v1") return lt::create_torrent::v1_only;
  if (version == "v2") return lt::create_torrent::v2_only;
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    std::cout << "libtorrent " << lt::version() << '\n';
    return count == 1 ? 0 : 2;
  }
  const std::string path = arguments[5];
  lt::file_storage files;
  lt::add_files(files, path);
  lt::create_torrent torrent(files, std::atoi(arguments[2]), flags_of(arguments[1]));

  lt::settings_pack settings = lt::default_settings();
  settings.set_int(lt::settings_pack::hashing_threads, std::atoi(arguments[3]));
  lt::error_code error;
  lt::set_piece_hashes(
      torrent, path.substr(0, path.rfind('/')), settings, [](lt::piece_index_t) {}, error);
  if (error) {
    std::cerr << error.message() << '\n';
    return 1;
  }
  std::ofstream output(arguments[4], std::ios::binary);
  lt::bencode(std::ostreambuf_iterator<char>(output), torrent.generate());
  return output.flush() ? 0 : 1;
}
