#include "sitefile/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "document/reader.h"
#include "sitefile/decoder.h"
#include "sitefile/xml_reader.h"

namespace muster::sitefile {
namespace {

constexpr std::string_view kStdin = "-";

bool is_xml(std::string_view text, std::string_view name) {
  if (name.ends_with(".xml")) return true;
  if (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json")) return false;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

// One reading: the files one after the other, then what can only be told of them together.
class SiteReader {
 public:
  explicit SiteReader(const ReadOptions& options)
      : options_(options), placeholders_(options.values, problems_) {
    site_.at = options.at;
    site_.places = Places(options.at);
  }

  void read_file(const std::string& path) {
    const std::optional<std::string> text = read_text_file(path == kStdin ? "/dev/stdin" : path,
                                                           options_.bytes_max - bytes_, problems_);
    if (!text) return;
    bytes_ += text->size();
    read_text(*text, path == kStdin ? "stdin" : path);
  }

  void read_text(std::string_view text, const std::string& name) {
    ++files_;
    if (is_xml(text, name)) {
      if (!xml_name_) xml_name_ = name;
      read_xml(text, name, options_, site_, placeholders_, problems_);
      return;
    }
    document::Limits limits;
    limits.bytes_max = options_.bytes_max;
    document::ReadDocument read = document::read_document(text, name, limits);
    if (!read.good()) {
      problems_.add(std::move(read.problems));
      return;
    }
    Decoder(site_.at, site_.declaration, site_.places, placeholders_, problems_)
        .decode(read.document);
  }

  document::Problems& problems() { return problems_; }

  Site finish() && {
    if (xml_name_ && files_ > 1) {
      problems_.add({*xml_name_, 0, 0}, "XML is not read as one of several files; apply it alone");
    }
    if (options_.schema != nullptr) {
      check_site_specific(placeholders_.found(), site_.at, site_.declaration, *options_.schema,
                          problems_);
    }
    site_.unused_values = placeholders_.unused();
    site_.problems = std::move(problems_).take();
    std::vector<model::Place> places;
    for (const document::Problem& problem : site_.problems) places.push_back(problem.place);
    site_.doubtful = site_.places.items_at(places);
    return std::move(site_);
  }

 private:
  const ReadOptions& options_;
  Site site_;
  document::Problems problems_;
  Placeholders placeholders_;
  std::size_t bytes_ = 0;
  std::size_t files_ = 0;
  std::optional<std::string> xml_name_;  // of the first one
};

}  // namespace

bool Site::is_judgeable(const model::Path& path) const {
  return std::none_of(doubtful.begin(), doubtful.end(), [&](const model::Path& item) {
    return path.is_at_or_below(item) || item.is_at_or_below(path);
  });
}

bool Site::is_partly_judgeable() const {
  return std::find(doubtful.begin(), doubtful.end(), at) == doubtful.end();
}

Site read_site(const std::vector<std::string>& paths, const ReadOptions& options) {
  SiteReader reader(options);
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      reader.read_file(path);
      continue;
    }
    for (const std::string& file : list_model_files(path, reader.problems())) {
      reader.read_file(file);
    }
  }
  return std::move(reader).finish();
}

Site read_site_text(std::string_view text, const std::string& name, const ReadOptions& options) {
  SiteReader reader(options);
  reader.read_text(text, name);
  return std::move(reader).finish();
}

}  // namespace muster::sitefile
