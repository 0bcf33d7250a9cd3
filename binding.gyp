{
  "variables": {
    "werror%": "0",
    # 1 for prebuilt binaries: they must not need the C++ runtime of the system that loads them.
    "static_runtime%": "0",
    "libcrypto%": "<!(node scripts/libcrypto.mjs lib)",
    "libcrypto_include%": "<!(node scripts/libcrypto.mjs include)",
  },
  "targets": [
    {
      "target_name": "metainfo",
      "sources": [
        "native/addon.cc",
        "native/binding/convert.cc",
        "native/binding/delay_load_win32.cc",
        "native/binding/errors.cc",
        "native/binding/hash_job.cc",
        "native/binding/kernels.cc",
        "native/binding/layer_roots.cc",
        "native/binding/limits.cc",
        "native/binding/stat_files.cc",
        "native/core/budget.cc",
        "native/core/files_posix.cc",
        "native/core/files_win32.cc",
        "native/core/job.cc",
        "native/core/job_state.cc",
        "native/core/layers.cc",
        "native/core/leaf_worker.cc",
        "native/core/measure.cc",
        "native/core/merkle.cc",
        "native/core/open_files.cc",
        "native/core/piece_worker.cc",
        "native/core/reader.cc",
        "native/core/reader_posix.cc",
        "native/core/reader_win32.cc",
        "native/core/stat_job.cc",
        "native/core/worker.cc",
        "native/core/worker_group.cc",
        "native/kernels/avx2_x86.cc",
        "native/kernels/avx512_x86.cc",
        "native/kernels/cpu.cc",
        "native/kernels/openssl.cc",
        "native/kernels/registry.cc",
        "native/kernels/sha_ce_arm64.cc",
        "native/kernels/sha_ni_x86.cc",
      ],
      "include_dirs": ["native"],
      "dependencies": ["<!(node -p \"require('node-addon-api').targets\"):node_addon_api_except"],
      # The last one: an error in a worker thread that is being terminated reaches nobody and must not abort the process.
      "defines": [
        "NAPI_VERSION=8",
        "NODE_ADDON_API_DISABLE_DEPRECATED",
        "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
      ],
      "cflags": ["-fvisibility=hidden", "-fstack-protector-strong"],
      "cflags_cc!": ["-std=gnu++20", "-std=gnu++17", "-fno-exceptions"],
      "cflags_cc": ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic"],
      "conditions": [
        ["werror==1", { "cflags_cc": ["-Werror"] }],
        ["libcrypto_include!=''", { "include_dirs": ["<(libcrypto_include)"] }],
        ["libcrypto!=''", { "libraries": ["<(libcrypto)"] }],
        ["OS=='linux' and static_runtime==1", { "ldflags": ["-static-libstdc++", "-static-libgcc"] }],
        # Both are needed: without either, the static library's symbols bind to those that Node exports.
        ["OS=='linux'", {
          "ldflags": [
            "-Wl,--exclude-libs,ALL",
            # Relative to build/, where the linker runs: an absolute path with spaces would become two arguments.
            "-Wl,--version-script=../native/exports.map",
            "-Wl,-Bsymbolic",
            "-Wl,-z,nodelete",
            "-Wl,-z,relro",
            "-Wl,-z,now",
            "-Wl,-z,noexecstack",
          ],
          # Only with optimization, which it needs. Some compilers predefine another level; redefining it fails with -Werror.
          "configurations": { "Release": { "cflags": ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"] } },
        }],
        ["OS=='linux' and target_arch=='x64'", { "cflags": ["-fcf-protection=full"] }],
        ["OS=='mac'", {
          "xcode_settings": {
            "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
            "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
            "MACOSX_DEPLOYMENT_TARGET": "11.0",
            "OTHER_LDFLAGS": [
              "-Wl,-exported_symbol,_napi_register_module_v1",
              "-Wl,-exported_symbol,_node_api_module_get_api_version_v1",
            ],
          },
        }],
      ],
    },
  ],
}
