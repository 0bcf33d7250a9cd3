{
  "variables": {
    "werror%": "0",
    # "no" if libtorrent is missing or older than 2.0: then nothing is built.
    "found%": "<!(pkg-config --exists 'libtorrent-rasterbar >= 2.0' && echo yes || echo no)",
  },
  "targets": [
    {
      "target_name": "metainfo_libtorrent",
      "type": "none",
      "conditions": [
        ["found=='yes'", {
          "type": "loadable_module",
          "sources": ["addon.cc", "create_task.cc", "../binding/environment.cc"],
          "include_dirs": [".."],
          "dependencies": ["<!(node -p \"require('node-addon-api').targets\"):node_addon_api_except_all"],
          "defines": [
            "NAPI_VERSION=8",
            "NODE_ADDON_API_DISABLE_DEPRECATED",
            "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
          ],
          "cflags": ["-fvisibility=hidden", "-fstack-protector-strong"],
          # libtorrent's headers are included as system headers, which cause no warnings.
          "cflags_cc!": ["-std=gnu++20", "-std=gnu++17", "-fno-exceptions", "-fno-rtti"],
          "cflags_cc": [
            "-std=c++17", "-Wall", "-Wextra", "-Wpedantic",
            "<!@(pkg-config --cflags libtorrent-rasterbar 2>/dev/null | sed 's/-I/-isystem /g' || true)",
          ],
          "libraries": ["<!@(pkg-config --libs libtorrent-rasterbar 2>/dev/null || true)"],
          "conditions": [
            ["werror==1", { "cflags_cc": ["-Werror"] }],
            # As in ../../binding.gyp.
            ["OS=='linux'", {
              "ldflags": ["-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"],
              "configurations": { "Release": { "cflags": ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"] } },
            }],
            ["OS=='linux' and target_arch=='x64'", { "cflags": ["-fcf-protection=full"] }],
          ],
        }],
      ],
    },
  ],
}
