#include "exec/download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <memory>

namespace muster::exec {
namespace {

constexpr long kConnectTimeoutSeconds = 30;
constexpr long kStallSeconds = 60;
constexpr long kRedirectsMax = 10;
constexpr long kTooManyRequests = 429;
constexpr long kRequestTimeout = 408;
constexpr long kRangeNotSatisfiable = 416;

std::size_t on_data(char* data, std::size_t size, std::size_t count, void* sink) {
  const auto& function = *static_cast<const std::function<bool(std::string_view)>*>(sink);
  return function({data, size * count}) ? size * count : 0;
}

bool is_transient(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

DownloadEnd judge(CURL* curl, CURLcode code) {
  if (code == CURLE_OK) {
    // A range past the end is not an error to libcurl, which takes it for a complete file.
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status == kRangeNotSatisfiable ? DownloadEnd::CannotResume : DownloadEnd::Complete;
  }
  if (code == CURLE_WRITE_ERROR) return DownloadEnd::SinkFailed;
  if (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME) {
    return DownloadEnd::CannotResume;
  }
  if (code == CURLE_HTTP_RETURNED_ERROR) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == kRangeNotSatisfiable) return DownloadEnd::CannotResume;
    const bool later = status >= 500 || status == kTooManyRequests || status == kRequestTimeout;
    return later ? DownloadEnd::Interrupted : DownloadEnd::Refused;
  }
  return is_transient(code) ? DownloadEnd::Interrupted : DownloadEnd::Refused;
}

}  // namespace

DownloadResult download(const std::string& url, std::uint64_t offset,
                        const std::function<bool(std::string_view)>& sink) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(),
                                                                   &curl_easy_cleanup);
  if (!handle) return {DownloadEnd::Refused, "cannot set up libcurl"};
  CURL* curl = handle.get();
  std::array<char, CURL_ERROR_SIZE> message{};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
  // A server must not be able to send the agent to files of its host.
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kRedirectsMax);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(offset));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "muster-agent");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message.data());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_data);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  const CURLcode code = curl_easy_perform(curl);
  DownloadResult result{judge(curl, code), {}};
  if (result.end != DownloadEnd::Complete) {
    const char* detail = message[0] != '\0' ? message.data() : curl_easy_strerror(code);
    result.reason = fmt::format("cannot fetch '{}': {}", url, detail);
  }
  return result;
}

}  // namespace muster::exec
