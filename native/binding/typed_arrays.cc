// Remembers the memory that JavaScript has as external buffers.
#include "binding/typed_arrays.h"

#include <mutex>
#include <unordered_map>

namespace metainfo {
namespace {

// All environments share it, and it is never destroyed: Node frees buffers until the process ends.
struct GivenMemory {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<const void>> owners;
};

GivenMemory& given_memory() {
  static auto* const memory = new GivenMemory();
  return *memory;
}

}  // namespace

void give(const void* data, std::shared_ptr<const void> owner) {
  GivenMemory& given = given_memory();
  const std::lock_guard<std::mutex> lock(given.mutex);
  given.owners.emplace(data, std::move(owner));
}

void take_back(const void* data) {
  GivenMemory& given = given_memory();
  // Freed after the lock is released: that may take long.
  std::shared_ptr<const void> owner;
  const std::lock_guard<std::mutex> lock(given.mutex);
  const auto entry = given.owners.find(data);
  owner = std::move(entry->second);
  given.owners.erase(entry);
}

std::shared_ptr<const void> owner_of(const void* data) {
  GivenMemory& given = given_memory();
  const std::lock_guard<std::mutex> lock(given.mutex);
  const auto entry = given.owners.find(data);
  return entry == given.owners.end() ? nullptr : entry->second;
}

}  // namespace metainfo
