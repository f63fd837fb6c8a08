#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace muster::plan {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFU;

// A hash table of indexes into something of the caller's, which knows what they stand for: a
// million tasks are found again at eight bytes each. Nothing is ever taken out but all at once.
class IndexTable {
 public:
  // The index with this hash for which `is_wanted(index)` holds, or kNone.
  std::uint32_t find(std::size_t hash, const auto& is_wanted) const {
    if (slots_.empty()) return kNone;
    const auto short_hash = shorten(hash);
    for (std::size_t at = short_hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.index == kNone) return kNone;
      if (slot.hash == short_hash && is_wanted(slot.index)) return slot.index;
    }
  }

  // REQUIRES: find() has not found what `index` stands for.
  void add(std::size_t hash, std::uint32_t index) {
    if (2 * (size_ + 1) > slots_.size()) grow(2 * slots_.size());
    place({shorten(hash), index});
    ++size_;
  }

  void reserve(std::size_t count) {
    if (2 * count > slots_.size()) grow(2 * count);
  }

  // Costs what is in it, not what once was.
  void clear() {
    if (8 * size_ < slots_.size()) {
      slots_ = std::vector<Slot>();
      mask_ = 0;
    } else {
      std::fill(slots_.begin(), slots_.end(), Slot{});
    }
    size_ = 0;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t index = kNone;
  };

  // Spread once more: hashes of pointers and small numbers differ in few bits.
  static std::uint32_t shorten(std::size_t hash) {
    return static_cast<std::uint32_t>((hash * 0x9E3779B97F4A7C15ULL) >> 32U);
  }

  void place(const Slot& slot) {
    std::size_t at = slot.hash & mask_;
    while (slots_[at].index != kNone) at = (at + 1) & mask_;
    slots_[at] = slot;
  }

  void grow(std::size_t least) {
    std::size_t size = 16;
    while (size < least) size *= 2;
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
    mask_ = size - 1;
    for (const Slot& slot : old) {
      if (slot.index != kNone) place(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

// Both parts of a key in one hash.
inline std::size_t mix(std::size_t a, std::size_t b) {
  return a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6U) + (a >> 2U));
}

}  // namespace muster::plan
