// On Windows the functions of Node-API are those of the running program, which need not be called node.exe:
// the linker was told that name, and here the program itself stands in for it. With MSVC node-gyp does the
// same.
#if defined(_WIN32) && !defined(_MSC_VER)

// The second needs the first.
// clang-format off
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <delayimp.h>
// clang-format on

#include <cstring>

namespace {

FARPROC WINAPI program_itself(unsigned event, DelayLoadInfo* info) {
  if (event != dliNotePreLoadLibrary || std::strcmp(info->szDll, "node.exe") != 0) return nullptr;
  // A program that embeds Node may have it in a library.
  HMODULE module = ::GetModuleHandleA("libnode.dll");
  if (module == nullptr) module = ::GetModuleHandleA(nullptr);
  return reinterpret_cast<FARPROC>(module);
}

}  // namespace

PfnDliHook __pfnDliNotifyHook2 = program_itself;

#endif
