// The names that a scan can add without asking JavaScript. It decides about all others
// (src/disk/entry-names.ts).
#pragma once

namespace metainfo {

// Whether every torrent can hold a name, whatever its rules: UTF-8 without backslash, and no drive letter.
bool is_harmless_name(const char* name);

// Whether a file of that name is always added: its name is harmless, no system makes it in every folder, it
// is no unfinished output, and it does not end with .torrent in any letter case.
bool is_plain_name(const char* name);

}  // namespace metainfo
