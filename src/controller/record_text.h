#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/hex.h"
#include "base/uuid.h"
#include "store/store.h"

// A stored record in words, for logs and answers.

namespace muster::controller {

inline std::string_view space_name(store::Space space) {
  switch (space) {
    case store::Space::Action:
      return "action";
    case store::Space::Agent:
      return "agent";
    case store::Space::Idempotency:
      return "idempotency";
    case store::Space::Journal:
      return "journal";
    case store::Space::Meta:
      return "meta";
    case store::Space::Item:
      return "item";
    case store::Space::Revision:
      return "revision";
    case store::Space::RevisionPart:
      return "revision part";
    case store::Space::Plan:
      return "plan";
    case store::Space::PlanPart:
      return "plan part";
  }
  return "?";
}

// The id of an action, other keys as text, or in hex where they are none.
inline std::string key_text(store::Space space, std::string_view key) {
  if (space == store::Space::Action && key.size() == Uuid::kSize) {
    return Uuid::from_bytes(key).to_string();
  }
  const bool printable = std::ranges::all_of(key, [](char c) { return c >= 0x20 && c < 0x7F; });
  return printable ? std::string(key) : to_hex(key);
}

}  // namespace muster::controller
