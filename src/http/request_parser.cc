#include "http/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "http/wire.h"

namespace muster::http {

namespace {

namespace beast = boost::beast;

// A body's memory is taken as it arrives; a mere announcement gets at most this much.
constexpr std::size_t kBodyReserveMax = std::size_t{256} << 10;

// No chunked body ends in fewer bytes than the last chunk and the empty trailer.
constexpr std::size_t kLastChunkBytes = std::string_view("0\r\n\r\n").size();

// Fills a Request directly instead of Beast's own message type, which would be copied from.
class Filler final : public beast::http::basic_parser<true> {
 public:
  explicit Filler(Request& request) : request_(request) {}

  const std::string& target() const { return target_; }
  std::size_t host_count() const { return host_count_; }
  bool http10() const { return version_ == 10; }
  bool head_ended() const { return head_ended_; }

 private:
  using ErrorCodeOut = beast::error_code;

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, ErrorCodeOut&) override {
    request_.method.assign(method.data(), method.size());
    target_.assign(target.data(), target.size());
    version_ = version;
  }
  void on_response_impl(int, beast::string_view, int, ErrorCodeOut&) override {}
  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     ErrorCodeOut&) override {
    // The trailer of a chunked body arrives here too. It must not be able to change what the header
    // said.
    if (head_ended_) return;
    if (field == beast::http::field::host) ++host_count_;
    auto [it, inserted] =
        request_.headers.try_emplace(in_lower_case(std::string(name)), value.data(), value.size());
    if (!inserted) {
      it->second += field == beast::http::field::cookie ? "; " : ", ";
      it->second.append(value.data(), value.size());
    }
  }
  void on_header_impl(ErrorCodeOut&) override { head_ended_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCodeOut&) override {
    if (length) request_.body.reserve(std::min<std::size_t>(*length, kBodyReserveMax));
  }
  std::size_t on_body_impl(beast::string_view bytes, ErrorCodeOut&) override {
    request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, ErrorCodeOut&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view bytes, ErrorCodeOut&) override {
    request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(ErrorCodeOut&) override {}

  Request& request_;
  std::string target_;
  std::size_t host_count_ = 0;
  int version_ = 11;
  bool head_ended_ = false;
};

RequestParser::Refusal header_too_large(std::size_t limit) {
  return {431,
          {ErrorCode::InvalidRequest,
           fmt::format("request header is too large, at most {} bytes are allowed", limit)}};
}

}  // namespace

struct RequestParser::Impl {
  Limits limits;
  Request request;
  std::optional<Filler> filler;
  std::size_t header_bytes = 0;
  bool header_done = false;
  bool expects_continue = false;
  Refusal refusal;

  Refusal refusal_of(const beast::error_code& error) const {
    using E = beast::http::error;
    if (error == E::body_limit) {
      return {413,
              {ErrorCode::BodyTooLarge,
               fmt::format("request body is too large, at most {} bytes are allowed",
                           limits.body_max)}};
    }
    if (error == E::header_limit) return header_too_large(limits.header_max);
    return {400,
            {ErrorCode::InvalidRequest, fmt::format("malformed request: {}", error.message())}};
  }

  // Checks that need the whole header; none: it is fine.
  std::optional<Refusal> check_header();
};

std::optional<RequestParser::Refusal> RequestParser::Impl::check_header() {
  const auto bad = [](std::string message) {
    return Refusal{400, {ErrorCode::InvalidRequest, std::move(message)}};
  };
  const auto header = [this](const char* name) -> const std::string* {
    const auto it = request.headers.find(name);
    return it != request.headers.end() ? &it->second : nullptr;
  };
  // A list of codings that does not end in chunked leaves the length of the body unknown, and
  // guessing it is how requests are smuggled.
  if (const auto* coding = header("transfer-encoding");
      coding && in_lower_case(*coding) != "chunked") {
    return Refusal{
        501,
        {ErrorCode::InvalidRequest,
         fmt::format("transfer encoding \"{}\" is not supported, use chunked", *coding)}};
  }
  if (filler->host_count() > 1) return bad("malformed request: more than one host header");
  if (filler->host_count() == 0 && !filler->http10()) {
    return bad("malformed request: the host header is missing");
  }
  auto target = parse_target(filler->target());
  if (!target) return Refusal{400, std::move(target.error())};
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  if (const auto* expect = header("expect"); expect && !filler->http10()) {
    if (in_lower_case(*expect) != "100-continue") {
      return Refusal{
          417,
          {ErrorCode::InvalidRequest,
           fmt::format("expectation \"{}\" is not supported, use 100-continue", *expect)}};
    }
    expects_continue = true;
  }
  return std::nullopt;
}

RequestParser::RequestParser(Limits limits) : impl_(std::make_unique<Impl>()) {
  impl_->limits = limits;
}

RequestParser::~RequestParser() = default;

void RequestParser::reset() {
  Impl& impl = *impl_;
  impl.request = {};
  impl.filler.emplace(impl.request);
  const auto header_max = std::min<std::size_t>(impl.limits.header_max, UINT32_MAX);
  impl.filler->header_limit(static_cast<std::uint32_t>(header_max));
  impl.filler->body_limit(std::uint64_t{impl.limits.body_max});
  impl.header_bytes = 0;
  impl.header_done = false;
  impl.expects_continue = false;
}

RequestParser::Step RequestParser::feed(std::string_view bytes) {
  Impl& impl = *impl_;
  MUSTER_CHECK(impl.filler.has_value(), "feed() before reset()");
  Step step;
  const auto refuse = [&](Refusal refusal) {
    impl.refusal = std::move(refusal);
    step.progress = Progress::Refused;
    return step;
  };
  while (true) {
    beast::error_code error;
    const std::string_view rest = bytes.substr(step.consumed);
    if (rest.empty()) return step;
    // Beast aborts the process when it has seen "0\r\n" and is asked again with one byte more.
    if (impl.header_done && impl.filler->chunked() && rest.size() < kLastChunkBytes) return step;
    const std::size_t used =
        impl.filler->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    step.consumed += used;
    // Beast holds each piece of a header to the limit, not their sum.
    if (!impl.header_done) impl.header_bytes += used;
    if (impl.header_bytes > impl.limits.header_max) {
      return refuse(header_too_large(impl.limits.header_max));
    }
    if (error == beast::http::error::need_more) return step;
    if (error) return refuse(impl.refusal_of(error));
    if (!impl.header_done && impl.filler->is_header_done()) {
      impl.header_done = true;
      if (auto refusal = impl.check_header()) return refuse(std::move(*refusal));
      if (!impl.filler->is_done()) {
        step.progress = Progress::HeaderDone;
        return step;
      }
    }
    if (impl.filler->is_done()) {
      step.progress = Progress::Done;
      return step;
    }
  }
}

Request& RequestParser::request() { return impl_->request; }
const RequestParser::Refusal& RequestParser::refusal() const { return impl_->refusal; }
bool RequestParser::http10() const { return impl_->filler && impl_->filler->http10(); }
bool RequestParser::keep_alive() const { return impl_->filler && impl_->filler->keep_alive(); }
bool RequestParser::expects_continue() const { return impl_->expects_continue; }

}  // namespace muster::http
