#include "base/error.h"

#include <fmt/format.h>

namespace muster {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidRequest:
      return "invalid_request";
    case ErrorCode::InvalidJson:
      return "invalid_json";
    case ErrorCode::JsonTooDeep:
      return "json_too_deep";
    case ErrorCode::InvalidValue:
      return "invalid_value";
    case ErrorCode::UnknownField:
      return "unknown_field";
    case ErrorCode::MissingField:
      return "missing_field";
    case ErrorCode::BodyTooLarge:
      return "body_too_large";
    case ErrorCode::UnknownKind:
      return "unknown_kind";
    case ErrorCode::UnknownTarget:
      return "unknown_target";
    case ErrorCode::UnknownDependency:
      return "unknown_dependency";
    case ErrorCode::DependencyCycle:
      return "dependency_cycle";
    case ErrorCode::InvalidMarker:
      return "invalid_marker";
    case ErrorCode::UnsupportedMediaType:
      return "unsupported_media_type";
    case ErrorCode::MethodNotSupported:
      return "method_not_supported";
    case ErrorCode::InvalidLocation:
      return "invalid_location";
    case ErrorCode::InvalidType:
      return "invalid_type";
    case ErrorCode::ItemExists:
      return "item_exists";
    case ErrorCode::MethodNotAllowed:
      return "method_not_allowed";
    case ErrorCode::ChildNotAllowed:
      return "child_not_allowed";
    case ErrorCode::InvalidChildType:
      return "invalid_child_type";
    case ErrorCode::InvalidReference:
      return "invalid_reference";
    case ErrorCode::PropertyNotAllowed:
      return "property_not_allowed";
    case ErrorCode::ReadOnlyProperty:
      return "read_only_property";
    case ErrorCode::PropertyNotSet:
      return "property_not_set";
    case ErrorCode::NothingToUpdate:
      return "nothing_to_update";
    case ErrorCode::MissingRequiredProperty:
      return "missing_required_property";
    case ErrorCode::MissingRequiredItem:
      return "missing_required_item";
    case ErrorCode::Validation:
      return "validation";
    case ErrorCode::Cardinality:
      return "cardinality";
    case ErrorCode::PlanRefused:
      return "plan_refused";
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::Ambiguous:
      return "ambiguous";
    case ErrorCode::DuplicateId:
      return "duplicate_id";
    case ErrorCode::Conflict:
      return "conflict";
    case ErrorCode::ActionFinal:
      return "action_final";
    case ErrorCode::SignalUnsupported:
      return "signal_unsupported";
    case ErrorCode::RevisionMismatch:
      return "revision_mismatch";
    case ErrorCode::IdempotencyMismatch:
      return "idempotency_mismatch";
    case ErrorCode::IdempotencyInFlight:
      return "idempotency_in_flight";
    case ErrorCode::Forbidden:
      return "forbidden";
    case ErrorCode::SelfApproval:
      return "self_approval";
    case ErrorCode::DuplicateApproval:
      return "duplicate_approval";
    case ErrorCode::Overloaded:
      return "overloaded";
    case ErrorCode::StoreUnavailable:
      return "store_unavailable";
    case ErrorCode::StoreLocked:
      return "store_locked";
    case ErrorCode::StoreCorrupt:
      return "store_corrupt";
    case ErrorCode::StoreNewer:
      return "store_newer";
    case ErrorCode::ModelUnfit:
      return "model_unfit";
    case ErrorCode::Fenced:
      return "fenced";
    case ErrorCode::Unavailable:
      return "unavailable";
    case ErrorCode::Timeout:
      return "timeout";
    case ErrorCode::Compacted:
      return "compacted";
    case ErrorCode::PluginFailed:
      return "plugin_failed";
    case ErrorCode::DecodeFailed:
      return "decode_failed";
    case ErrorCode::IoError:
      return "io_error";
    case ErrorCode::Internal:
      return "internal";
  }
  return "internal";
}

Error Error::wrap(std::string_view outer) && {
  message = fmt::format("{}: {}", outer, message);
  return std::move(*this);
}

}  // namespace muster
