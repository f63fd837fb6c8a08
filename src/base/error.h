#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Errors that a caller can act on. A code exists only if some caller would act differently on it;
// its name is part of the API (`code` of a problem document) and has a line in docs/errors.md.

namespace muster {

enum class ErrorCode : std::uint8_t {
  // The request is wrong.
  InvalidRequest,  // several field errors, or a body of the wrong shape
  InvalidJson,     // not JSON
  JsonTooDeep,     // JSON that is nested too deep
  InvalidValue,    // a field whose value is not allowed
  UnknownField,    // a field that does not exist
  MissingField,    // a required field that is not there
  BodyTooLarge,
  UnknownKind,        // no such action kind
  UnknownTarget,      // no such agent
  UnknownDependency,  // depends_on or depended_by names no action
  DependencyCycle,
  InvalidMarker,  // the marker of a list names no action (any more)
  UnsupportedMediaType,
  MethodNotSupported,  // the path exists, but not for this method
  // The model refuses it. The names are those that the users of LITP know.
  InvalidLocation,   // no item at that path
  InvalidType,       // no such item type
  ItemExists,        // there is an item at that path
  MethodNotAllowed,  // the item is in a place or a state where this cannot be done to it
  ChildNotAllowed,   // the parent has no such slot, or not for such an item
  InvalidChildType,  // an item of this type does not fit the slot
  InvalidReference,  // it cannot inherit from there
  PropertyNotAllowed,
  ReadOnlyProperty,  // whoever asks may not change it, or not any more
  PropertyNotSet,    // there is no value to take away
  NothingToUpdate,   // an update that names no property
  MissingRequiredProperty,
  MissingRequiredItem,
  Validation,   // a value, or values together, that the type refuses
  Cardinality,  // too few or too many items in a collection
  PlanRefused,  // tasks that cannot be put in an order, or do not fit where they ask to be
  // The thing.
  NotFound,
  Ambiguous,  // a name or short id that matches several
  DuplicateId,
  Conflict,             // the thing is not in a state that allows this
  ActionFinal,          // the action has ended; its status does not change any more
  SignalUnsupported,    // the kind of the action cannot do this
  RevisionMismatch,     // If-Match does not match
  IdempotencyMismatch,  // same Idempotency-Key, other body
  IdempotencyInFlight,  // same Idempotency-Key, still being worked on
  // Who.
  Forbidden,
  SelfApproval,       // the requester may not approve
  DuplicateApproval,  // the same person twice
  // Muster itself.
  Overloaded,        // a queue is at its limit; try again
  StoreUnavailable,  // the store refuses writes (full disk, I/O error)
  StoreLocked,       // another process has the store open
  StoreCorrupt,
  StoreNewer,   // written by a newer version
  ModelUnfit,   // the model in the store does not fit the packs
  Fenced,       // another controller has taken over
  Unavailable,  // not reachable
  Timeout,
  Compacted,     // the events asked for are no longer kept
  PluginFailed,  // a plugin crashed, hung, or answered what it may not
  DecodeFailed,  // bytes that do not decode
  IoError,
  Internal,
};

std::string_view name(ErrorCode code);

// One wrong field of a request. The pointer is a JSON pointer into the body ("/actions/0/timeout");
// what is wrong with an item of the model has the item's path instead, and the property, if it is
// one. What is wrong with a plan names what is known of the rule, the task and the plugin.
struct FieldError {
  std::string pointer;
  ErrorCode code;
  std::string detail;
  std::string path = {};
  std::string property = {};
  std::string rule = {};  // of the planner, as "requires_out_of_scope"
  std::string task = {};
  std::string plugin = {};

  bool operator==(const FieldError&) const = default;
};

// Message phrasing: subject, problem, value, bound; lower case, no final period.
struct Error {
  ErrorCode code;
  std::string message;
  std::vector<FieldError> fields = {};  // all wrong fields of a request at once

  // "outer: inner", for context added on the way out.
  Error wrap(std::string_view outer) &&;

  bool operator==(const Error&) const = default;
};

}  // namespace muster
