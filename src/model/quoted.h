#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster::model {

// "'abc'", cut where it is long and with control characters made visible, for an error message.
std::string quoted(std::string_view text);

// "'a', 'b' and 'c'".
std::string quoted_list(std::span<const std::string> words);

// "a -> b -> a", for a cycle whose members are named in order. REQUIRES: not empty.
std::string arrows(std::span<const std::string> cycle);

}  // namespace muster::model
