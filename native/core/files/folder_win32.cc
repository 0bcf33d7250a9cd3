// Folder for Windows.
#ifdef _WIN32

#include "core/files/files_win32.h"
#include "core/files/folder.h"

namespace metainfo {
namespace {

bool is_itself_or_parent(const std::wstring& name) { return name == L"." || name == L".."; }

// The bytes of a name: UTF-8, if it is valid UTF-16. Half of a surrogate pair becomes three bytes that are
// not UTF-8, so that it is told apart from every valid name.
std::string bytes_of(const std::wstring& name) {
  std::string bytes;
  for (std::size_t i = 0; i < name.size(); ++i) {
    std::uint32_t code = name[i];
    if (code >= 0xd800 && code < 0xdc00 && i + 1 < name.size() && name[i + 1] >= 0xdc00 &&
        name[i + 1] < 0xe000)
      code = 0x10000 + ((code - 0xd800) << 10) + (name[++i] - 0xdc00U);
    const auto add = [&](std::uint32_t byte) { bytes.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      add(code);
      continue;
    }
    const int rest = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr std::uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    add(kFirst[rest] | code >> (6 * rest));
    for (int i_rest = rest - 1; i_rest >= 0; --i_rest) add(0x80 | (code >> (6 * i_rest) & 0x3f));
  }
  return bytes;
}

// As in libuv, every reparse point counts as a link.
std::uint32_t type_of(DWORD attributes) {
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return kLinkType;
  return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? kFolderType : 0;
}

void add_entry(const WIN32_FIND_DATAW& found, FolderNames& names) {
  const std::wstring wide = found.cFileName;
  if (is_itself_or_parent(wide)) return;
  const std::string name = bytes_of(wide);
  names.add(name.data(), name.size(), type_of(found.dwFileAttributes));
}

}  // namespace

Folder::~Folder() {
  if (handle_ != nullptr) ::FindClose(handle_);
}

int Folder::open() {
  std::wstring pattern = system_path(path_);
  if (pattern.empty()) return errno_of(ERROR_FILE_NOT_FOUND);
  if (pattern.back() != L'\\') pattern += L'\\';
  pattern += L'*';
  WIN32_FIND_DATAW found;
  const HANDLE handle = ::FindFirstFileExW(pattern.c_str(), FindExInfoBasic, &found, FindExSearchNameMatch,
                                           nullptr, FIND_FIRST_EX_LARGE_FETCH);
  if (handle == INVALID_HANDLE_VALUE) {
    const DWORD error = ::GetLastError();
    // The root of an empty drive has not even the entry `.`.
    return error == ERROR_FILE_NOT_FOUND ? 0 : errno_of(error);
  }
  handle_ = handle;
  add_entry(found, first_);
  return 0;
}

int Folder::list(std::size_t most, FolderNames& names, bool& ended) {
  for (std::size_t i = 0; i < first_.count(); ++i) {
    const std::string name = first_.name(i);
    names.add(name.data(), name.size(), first_.types[i]);
  }
  first_.clear();
  while (names.count() < most) {
    WIN32_FIND_DATAW found;
    ended = handle_ == nullptr || !::FindNextFileW(handle_, &found);
    if (ended) {
      const DWORD error = handle_ == nullptr ? ERROR_NO_MORE_FILES : ::GetLastError();
      return error == ERROR_NO_MORE_FILES ? 0 : errno_of(error);
    }
    add_entry(found, names);
  }
  return 0;
}

FileStatus Folder::status(const char* name) const {
  const bool is_drive = path_.back() == '\\' || path_.back() == '/';
  return file_status((path_ + (is_drive ? "" : "\\") + name).c_str());
}

// The mode of a file on Windows never says that it may not be read: nobody asks.
int Folder::reading_error(const char*) const { return 0; }

}  // namespace metainfo

#endif
