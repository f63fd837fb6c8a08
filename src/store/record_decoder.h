#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "store/record_codec.h"

namespace muster::store {

// Collects the first thing that is wrong, so that the field by field translation stays a list.
class Decoder {
 public:
  explicit Decoder(std::string_view what) : what_(what) {}

  template <typename Message>
  Result<Message> parse(std::string_view bytes) {
    if (bytes.empty()) return fail(ErrorCode::DecodeFailed, "{} record is empty", what_);
    const auto format = static_cast<std::uint8_t>(bytes.front());
    if (format != kRecordFormat) {
      return fail(ErrorCode::DecodeFailed, "{} record has format {}, this program reads format {}",
                  what_, format, kRecordFormat);
    }
    const std::string_view body = bytes.substr(1);
    Message message;
    if (body.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
        !message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
      return fail(ErrorCode::DecodeFailed, "{} record of {} bytes is not a valid message", what_,
                  bytes.size());
    }
    return message;
  }

  template <typename Enum>
  Enum enumeration(int raw, Enum last, std::string_view field) {
    if (raw < 1 || raw > static_cast<int>(last) + 1) {
      reject(field,
             fmt::format("value {} is not between 1 and {}", raw, static_cast<int>(last) + 1));
      return Enum{};
    }
    return static_cast<Enum>(raw - 1);
  }

  Uuid id(const std::string& bytes, std::string_view field) {
    if (bytes.size() != Uuid::kSize) {
      reject(field, fmt::format("an id has {} bytes, not {}", Uuid::kSize, bytes.size()));
      return {};
    }
    return Uuid::from_bytes(bytes);
  }

  std::vector<Uuid> ids(const std::string& bytes, std::string_view field) {
    if (bytes.size() % Uuid::kSize != 0) {
      reject(field,
             fmt::format("{} bytes are no whole number of {}-byte ids", bytes.size(), Uuid::kSize));
      return {};
    }
    std::vector<Uuid> result;
    result.reserve(bytes.size() / Uuid::kSize);
    for (std::size_t at = 0; at < bytes.size(); at += Uuid::kSize) {
      result.push_back(Uuid::from_bytes(std::string_view(bytes).substr(at, Uuid::kSize)));
    }
    return result;
  }

  // Sequence numbers are signed in a backend.
  std::uint64_t sequence(std::uint64_t raw, std::string_view field) {
    if (raw > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      reject(field, fmt::format("sequence number {} is larger than 2^63 - 1", raw));
    }
    return raw;
  }

  void reject(std::string_view field, std::string_view problem) {
    if (problem_.empty()) problem_ = fmt::format("{} record, {}: {}", what_, field, problem);
  }

  template <typename T>
  Result<T> finish(T value) {
    if (!problem_.empty()) return fail(Error{ErrorCode::DecodeFailed, std::move(problem_)});
    return value;
  }

 private:
  std::string_view what_;
  std::string problem_;
};

}  // namespace muster::store
