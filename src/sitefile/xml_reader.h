#pragma once

#include <string>
#include <string_view>

#include "sitefile/site.h"

// The XML that LITP exports and loads. Internal to reading; no I/O.

namespace muster::sitefile {

// Sets what `site` is about and what it declares. An element of LITP's namespace is an item, or a
// collection if its name ends with "-collection"; `<type>-inherit` takes over the item at its
// source_path, which may be relative to the item itself; elements without a prefix are properties.
void read_xml(std::string_view text, const std::string& name, const ReadOptions& options,
              Site& site, Placeholders& placeholders, document::Problems& problems);

}  // namespace muster::sitefile
