// Windows only: lets the addon load into programs that are not called node.exe.
//
// The linker imports the functions of Node-API from "node.exe". This hook resolves that name to the running
// program. With MSVC, node-gyp adds such a hook by itself.
#if defined(_WIN32) && !defined(_MSC_VER)

// delayimp.h needs windows.h.
// clang-format off
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <delayimp.h>
// clang-format on

#include <cstring>

namespace {

FARPROC WINAPI running_program(unsigned event, DelayLoadInfo* info) {
  if (event != dliNotePreLoadLibrary || std::strcmp(info->szDll, "node.exe") != 0) return nullptr;
  // A program that embeds Node may have Node-API in this library.
  HMODULE module = ::GetModuleHandleA("libnode.dll");
  if (module == nullptr) module = ::GetModuleHandleA(nullptr);
  return reinterpret_cast<FARPROC>(module);
}

}  // namespace

PfnDliHook __pfnDliNotifyHook2 = running_program;

#endif
