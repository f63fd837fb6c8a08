#pragma once

#include <string_view>

// The words of LITP's XML.

namespace muster::sitefile {

inline constexpr std::string_view kLitpNamespace = "http://www.ericsson.com/litp";
inline constexpr std::string_view kInstanceNamespace = "http://www.w3.org/2001/XMLSchema-instance";
inline constexpr std::string_view kCollectionSuffix = "-collection";
inline constexpr std::string_view kInheritSuffix = "-inherit";
inline constexpr std::string_view kIdAttribute = "id";
inline constexpr std::string_view kSourceAttribute = "source_path";
inline constexpr std::string_view kRootElement = "root";

}  // namespace muster::sitefile
