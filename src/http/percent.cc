#include "http/percent.h"

#include "base/hex.h"

namespace muster::http {

std::optional<std::string> percent_decode(std::string_view text, PlusIs plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (text[i] == '+' && plus == PlusIs::Space) {
      out += ' ';
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace muster::http
