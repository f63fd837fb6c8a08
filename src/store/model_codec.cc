#include "store/model_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "record.pb.h"
#include "store/record_decoder.h"

namespace muster::store {
namespace {

namespace wire = record::v1;

static_assert(static_cast<int>(model::ItemState::Removed) + 1 == wire::ITEM_STATE_REMOVED);
static_assert(static_cast<int>(model::ItemClass::RefCollection) + 1 ==
              wire::ITEM_CLASS_REF_COLLECTION);

std::string to_bytes(const google::protobuf::MessageLite& message) {
  std::string bytes(1, static_cast<char>(kRecordFormat));
  message.AppendToString(&bytes);
  return bytes;
}

void put_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>((value >> shift) & 0xFF));
  }
}

template <typename Field>
void put_values(Field* out, const model::PropertiesPtr& properties) {
  if (!properties) return;
  for (const auto& [name, value] : *properties) {
    out->Add()->assign(name.data(), name.size());
    *out->Add() = value;
  }
}

void fill(wire::Item& out, const model::Item& item) {
  out.set_type(item.type->id);
  out.set_item_class(static_cast<wire::ItemClass>(static_cast<int>(item.item_class) + 1));
  out.set_state(static_cast<wire::ItemState>(static_cast<int>(item.state) + 1));
  if (item.previous_state) {
    out.set_previous_state(
        static_cast<wire::ItemState>(static_cast<int>(*item.previous_state) + 1));
  }
  out.set_indeterminable(!item.determinable);
  out.set_was_applied(item.was_applied);
  put_values(out.mutable_own(), item.own);
  if (item.applied && model::same(item.applied, item.own)) {
    out.set_applied_is_own(true);
  } else {
    put_values(out.mutable_applied(), item.applied);
  }
  if (item.source) out.set_source(item.source->text());
}

template <typename Field>
model::ItemRecord::Values take_values(Decoder& decoder, Field& in, std::string_view field) {
  model::ItemRecord::Values values;
  if (in.size() % 2 != 0) {
    decoder.reject(field, fmt::format("{} texts are no pairs of name and value", in.size()));
    return values;
  }
  values.reserve(static_cast<std::size_t>(in.size() / 2));
  for (int i = 0; i < in.size(); i += 2) {
    if (!values.empty() && values.back().first >= in[i]) {
      decoder.reject(field,
                     fmt::format("'{}' does not come after '{}'", in[i], values.back().first));
      return values;
    }
    values.emplace_back(std::move(*in.Mutable(i)), std::move(*in.Mutable(i + 1)));
  }
  return values;
}

model::Path take_path(Decoder& decoder, const std::string& text, std::string_view field) {
  auto path = model::Path::parse(text);
  if (path) return std::move(*path);
  decoder.reject(field, path.error().message);
  return {};
}

model::ItemRecord take_item(Decoder& decoder, wire::Item& in) {
  model::ItemRecord item;
  item.type = std::move(*in.mutable_type());
  item.item_class =
      decoder.enumeration(in.item_class(), model::ItemClass::RefCollection, "item_class");
  item.state = decoder.enumeration(in.state(), model::ItemState::Removed, "state");
  if (in.previous_state() != wire::ITEM_STATE_UNSPECIFIED) {
    item.previous_state =
        decoder.enumeration(in.previous_state(), model::ItemState::Removed, "previous_state");
  }
  item.determinable = !in.indeterminable();
  item.was_applied = in.was_applied();
  item.applied_is_own = in.applied_is_own();
  item.own = take_values(decoder, *in.mutable_own(), "own");
  item.applied = take_values(decoder, *in.mutable_applied(), "applied");
  if (!in.source().empty()) item.source = take_path(decoder, in.source(), "source");
  return item;
}

}  // namespace

std::string encode(const model::Item& item) {
  wire::Item message;
  fill(message, item);
  return to_bytes(message);
}

std::string encode(const RevisionHead& head) {
  wire::Revision message;
  message.set_number(head.number);
  message.set_at(head.at.us);
  message.set_who(head.who);
  message.set_what(head.what);
  message.set_why(head.why);
  message.set_added(head.added);
  message.set_changed(head.changed);
  message.set_removed(head.removed);
  message.set_migration(head.migration);
  message.set_changes(head.changes);
  return to_bytes(message);
}

std::string encode_part(const model::ChangeSet& changes, std::size_t first) {
  wire::RevisionPart message;
  const std::size_t end = std::min(changes.size(), first + kChangesPerPart);
  for (std::size_t i = first; i < end; ++i) {
    wire::ItemChange& change = *message.add_changes();
    change.set_path(changes[i].path.text());
    if (changes[i].before) fill(*change.mutable_before(), *changes[i].before);
    if (changes[i].after) fill(*change.mutable_after(), *changes[i].after);
  }
  return to_bytes(message);
}

std::string encode(const model::PackVersions& versions) {
  wire::ModelPacks message;
  for (const auto& [name, version] : versions) {
    message.add_versions(name);
    message.add_versions(version);
  }
  return to_bytes(message);
}

Result<model::ItemRecord> decode_item(std::string_view bytes) {
  Decoder decoder("item");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::Item>(bytes));
  return decoder.finish(take_item(decoder, message));
}

Result<RevisionHead> decode_revision(std::string_view bytes) {
  Decoder decoder("revision");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::Revision>(bytes));
  RevisionHead head;
  head.number = decoder.sequence(message.number(), "number");
  head.at = Timestamp{message.at()};
  head.who = std::move(*message.mutable_who());
  head.what = std::move(*message.mutable_what());
  head.why = std::move(*message.mutable_why());
  head.added = message.added();
  head.changed = message.changed();
  head.removed = message.removed();
  head.migration = message.migration();
  head.changes = decoder.sequence(message.changes(), "changes");
  return decoder.finish(std::move(head));
}

Result<std::vector<ItemChange>> decode_part(std::string_view bytes) {
  Decoder decoder("revision part");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::RevisionPart>(bytes));
  std::vector<ItemChange> changes;
  changes.reserve(static_cast<std::size_t>(message.changes_size()));
  for (wire::ItemChange& in : *message.mutable_changes()) {
    ItemChange change;
    change.path = take_path(decoder, in.path(), "path");
    if (in.has_before()) change.before = take_item(decoder, *in.mutable_before());
    if (in.has_after()) change.after = take_item(decoder, *in.mutable_after());
    changes.push_back(std::move(change));
  }
  return decoder.finish(std::move(changes));
}

Result<model::PackVersions> decode_packs(std::string_view bytes) {
  Decoder decoder("model packs");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::ModelPacks>(bytes));
  model::PackVersions versions;
  for (auto& [name, version] : take_values(decoder, *message.mutable_versions(), "versions")) {
    versions.emplace(std::move(name), std::move(version));
  }
  return decoder.finish(std::move(versions));
}

std::string revision_key(std::uint64_t number) {
  std::string key;
  put_big_endian(key, std::numeric_limits<std::uint64_t>::max() - number, 8);
  return key;
}

std::string part_key(std::uint64_t number, std::uint32_t part) {
  std::string key;
  put_big_endian(key, number, 8);
  put_big_endian(key, part, 4);
  return key;
}

void append_model(Batch& batch, const core::PutItem& write) {
  RecordWrite record{
      .space = Space::Item, .key = write.path.text(), .value = std::nullopt, .index = std::nullopt};
  if (write.item) record.value = encode(*write.item);
  batch.records.push_back(std::move(record));
}

void append_model(Batch& batch, const core::PutRevision& write) {
  const core::Revision& revision = *write.revision;
  const RevisionHead head{.number = revision.number,
                          .at = revision.at,
                          .who = revision.who,
                          .what = revision.what,
                          .why = revision.why,
                          .added = revision.added,
                          .changed = revision.changed,
                          .removed = revision.removed,
                          .migration = revision.migration,
                          .changes = revision.changes->size()};
  batch.records.push_back({.space = Space::Revision,
                           .key = revision_key(revision.number),
                           .value = encode(head),
                           .index = std::nullopt});
  std::uint32_t part = 0;
  for (std::size_t first = 0; first < revision.changes->size(); first += kChangesPerPart) {
    batch.records.push_back({.space = Space::RevisionPart,
                             .key = part_key(revision.number, part++),
                             .value = encode_part(*revision.changes, first),
                             .index = std::nullopt});
  }
}

void append_model(Batch& batch, const core::DropRevision& write) {
  const auto drop = [&](Space space, std::string key) {
    batch.records.push_back(
        {.space = space, .key = std::move(key), .value = std::nullopt, .index = std::nullopt});
  };
  drop(Space::Revision, revision_key(write.number));
  const std::size_t parts = (write.changes + kChangesPerPart - 1) / kChangesPerPart;
  for (std::size_t part = 0; part < parts; ++part) {
    drop(Space::RevisionPart, part_key(write.number, static_cast<std::uint32_t>(part)));
  }
}

void append_model(Batch& batch, const core::PutModelPacks& write) {
  batch.records.push_back({.space = Space::Meta,
                           .key = std::string(kModelPacksKey),
                           .value = encode(write.versions),
                           .index = std::nullopt});
}

}  // namespace muster::store
