#include "http/problem.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "http/router.h"

namespace muster::http {

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidRequest:
    case ErrorCode::InvalidJson:
    case ErrorCode::JsonTooDeep:
    case ErrorCode::InvalidValue:
    case ErrorCode::UnknownField:
    case ErrorCode::MissingField:
    case ErrorCode::UnknownKind:
    case ErrorCode::UnknownTarget:
    case ErrorCode::UnknownDependency:
    case ErrorCode::DependencyCycle:
    case ErrorCode::InvalidMarker:
    case ErrorCode::Ambiguous:
      return 400;
    case ErrorCode::Forbidden:
    case ErrorCode::SelfApproval:
      return 403;
    case ErrorCode::NotFound:
    case ErrorCode::InvalidLocation:
      return 404;
    case ErrorCode::MethodNotSupported:
    case ErrorCode::MethodNotAllowed:
      return 405;
    case ErrorCode::DuplicateId:
    case ErrorCode::ItemExists:
    case ErrorCode::Conflict:
    case ErrorCode::ActionFinal:
    case ErrorCode::SignalUnsupported:
    case ErrorCode::IdempotencyInFlight:
    case ErrorCode::DuplicateApproval:
      return 409;
    case ErrorCode::Compacted:
      return 410;
    case ErrorCode::RevisionMismatch:
      return 412;
    case ErrorCode::BodyTooLarge:
      return 413;
    case ErrorCode::UnsupportedMediaType:
      return 415;
    case ErrorCode::IdempotencyMismatch:
    case ErrorCode::InvalidType:
    case ErrorCode::ChildNotAllowed:
    case ErrorCode::InvalidChildType:
    case ErrorCode::InvalidReference:
    case ErrorCode::PropertyNotAllowed:
    case ErrorCode::ReadOnlyProperty:
    case ErrorCode::PropertyNotSet:
    case ErrorCode::NothingToUpdate:
    case ErrorCode::MissingRequiredProperty:
    case ErrorCode::MissingRequiredItem:
    case ErrorCode::Validation:
    case ErrorCode::Cardinality:
    case ErrorCode::PlanRefused:
      return 422;
    case ErrorCode::Overloaded:
      return 429;
    case ErrorCode::PluginFailed:
      return 502;
    case ErrorCode::StoreUnavailable:
    case ErrorCode::Unavailable:
      return 503;
    case ErrorCode::Timeout:
      return 504;
    case ErrorCode::StoreLocked:
    case ErrorCode::StoreCorrupt:
    case ErrorCode::StoreNewer:
    case ErrorCode::ModelUnfit:
    case ErrorCode::Fenced:
    case ErrorCode::DecodeFailed:
    case ErrorCode::IoError:
    case ErrorCode::Internal:
      return 500;
  }
  return 500;
}

namespace {

// One short phrase per code, the same for every occurrence, as RFC 9457 asks.
std::string_view title_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidRequest:
      return "The request is not valid";
    case ErrorCode::InvalidJson:
      return "The body is not valid JSON";
    case ErrorCode::JsonTooDeep:
      return "The body is nested too deep";
    case ErrorCode::InvalidValue:
      return "A value is not allowed";
    case ErrorCode::UnknownField:
      return "A field does not exist";
    case ErrorCode::MissingField:
      return "A required field is missing";
    case ErrorCode::BodyTooLarge:
      return "The body is too large";
    case ErrorCode::UnknownKind:
      return "There is no such action kind";
    case ErrorCode::UnknownTarget:
      return "There is no such target";
    case ErrorCode::UnknownDependency:
      return "A dependency does not exist";
    case ErrorCode::DependencyCycle:
      return "The dependencies form a cycle";
    case ErrorCode::InvalidMarker:
      return "The marker is not valid";
    case ErrorCode::UnsupportedMediaType:
      return "The media type is not supported";
    case ErrorCode::MethodNotSupported:
      return "The method is not supported here";
    case ErrorCode::InvalidLocation:
      return "There is no such item";
    case ErrorCode::InvalidType:
      return "There is no such item type";
    case ErrorCode::ItemExists:
      return "The item exists";
    case ErrorCode::MethodNotAllowed:
      return "The item does not allow this";
    case ErrorCode::ChildNotAllowed:
      return "The item takes no such child";
    case ErrorCode::InvalidChildType:
      return "An item of this type does not fit there";
    case ErrorCode::InvalidReference:
      return "It cannot inherit from there";
    case ErrorCode::PropertyNotAllowed:
      return "The item has no such property";
    case ErrorCode::ReadOnlyProperty:
      return "The property may not be changed";
    case ErrorCode::PropertyNotSet:
      return "The property is not set";
    case ErrorCode::NothingToUpdate:
      return "The update names no property";
    case ErrorCode::MissingRequiredProperty:
      return "A required property is missing";
    case ErrorCode::MissingRequiredItem:
      return "A required item is missing";
    case ErrorCode::Validation:
      return "A value of the model is not right";
    case ErrorCode::Cardinality:
      return "A collection has too few or too many items";
    case ErrorCode::PlanRefused:
      return "The plan cannot be made";
    case ErrorCode::PluginFailed:
      return "A plugin failed";
    case ErrorCode::NotFound:
      return "Not found";
    case ErrorCode::Ambiguous:
      return "The name matches several";
    case ErrorCode::DuplicateId:
      return "The id is taken";
    case ErrorCode::Conflict:
      return "The state does not allow this";
    case ErrorCode::ActionFinal:
      return "The action has ended";
    case ErrorCode::SignalUnsupported:
      return "The signal is not supported";
    case ErrorCode::RevisionMismatch:
      return "The revision does not match";
    case ErrorCode::IdempotencyMismatch:
      return "The idempotency key was used for another request";
    case ErrorCode::IdempotencyInFlight:
      return "The first request with this key is still running";
    case ErrorCode::Forbidden:
      return "Not allowed";
    case ErrorCode::SelfApproval:
      return "The requester may not approve";
    case ErrorCode::DuplicateApproval:
      return "Already approved by this person";
    case ErrorCode::Overloaded:
      return "Too many requests";
    case ErrorCode::StoreUnavailable:
      return "The store does not accept writes";
    case ErrorCode::StoreLocked:
      return "The store is in use";
    case ErrorCode::StoreCorrupt:
      return "The store is damaged";
    case ErrorCode::StoreNewer:
      return "The store is of a newer version";
    case ErrorCode::ModelUnfit:
      return "The model does not fit the packs";
    case ErrorCode::Fenced:
      return "Another controller has taken over";
    case ErrorCode::Unavailable:
      return "Not reachable";
    case ErrorCode::Timeout:
      return "Timed out";
    case ErrorCode::Compacted:
      return "No longer kept";
    case ErrorCode::DecodeFailed:
      return "Data does not decode";
    case ErrorCode::IoError:
      return "Input or output failed";
    case ErrorCode::Internal:
      return "Internal error";
  }
  return "Internal error";
}

}  // namespace

Response json_response(int status, const Json& body) {
  return json_text_response(status, dump_json(body));
}

Response json_text_response(int status, std::string text) {
  Response response;
  response.status = status;
  response.headers.emplace_back("Content-Type", "application/json");
  response.body = std::move(text);
  response.body += '\n';
  return response;
}

Response problem_with_status(int status, std::string_view title, const Error& error,
                             const Request& request) {
  Json body = {{"type", fmt::format("urn:muster:problem:{}", name(error.code))},
               {"title", title},
               {"status", status},
               {"detail", error.message},
               {"code", name(error.code)},
               {"request_id", request.id}};
  if (!error.fields.empty()) {
    Json& errors = body["errors"] = Json::array();
    for (const FieldError& field : error.fields) {
      Json each = {{"code", name(field.code)}, {"detail", field.detail}};
      if (field.path.empty()) {
        each["pointer"] = field.pointer;
      } else {
        each["path"] = field.path;
        if (!field.property.empty()) each["property"] = field.property;
      }
      for (const auto& [key, value] :
           {std::pair<const char*, const std::string&>{"rule", field.rule},
            {"task", field.task},
            {"plugin", field.plugin}}) {
        if (!value.empty()) each[key] = value;
      }
      errors.push_back(std::move(each));
    }
  }
  Response response = json_response(status, body);
  response.headers.front().second = "application/problem+json";
  if (status == 429) response.headers.emplace_back("Retry-After", "1");
  if (status == 503) response.headers.emplace_back("Retry-After", "5");
  return response;
}

Response problem(const Error& error, const Request& request) {
  return problem_with_status(http_status(error.code), title_of(error.code), error, request);
}

}  // namespace muster::http
