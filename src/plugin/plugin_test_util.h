#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "model/declaration.h"
#include "model/test_types.h"
#include "plugin/host.h"

// A model and plugins for tests: scripts in a folder of their own.

namespace muster::plugin::testing {

// A cluster of nodes, each with a package that it takes over; n1 has a secret.
inline model::Tree make_tree(const model::Schema& schema, int nodes = 2) {
  model::Tree tree = model::empty_model(schema);
  const auto create = [&](const std::string& parent, const std::string& id, const std::string& type,
                          model::GivenProperties properties = {}) {
    const model::EditOutcome made = model::edit(
        tree, schema, {model::CreateItem{*model::Path::parse(parent), id, type, properties}},
        model::Actor::User);
    EXPECT_TRUE(made.ok()) << (made.errors.empty() ? "" : made.errors.front().message);
  };
  create("/software/items", "nginx", "package", {{"name", "nginx"}});
  create("/deployments", "d", "deployment");
  create("/deployments/d/clusters", "c", "cluster");
  for (int i = 1; i <= nodes; ++i) {
    const std::string id = "n" + std::to_string(i);
    const std::string node = "/deployments/d/clusters/c/nodes/" + id;
    model::GivenProperties properties = {{"hostname", id}};
    if (i == 1) properties["password"] = "sesame";
    create("/deployments/d/clusters/c/nodes", id, "node", properties);
    const model::EditOutcome made =
        model::edit(tree, schema,
                    {model::InheritItem{*model::Path::parse(node + "/items"),
                                        "nginx",
                                        *model::Path::parse("/software/items/nginx"),
                                        {}}},
                    model::Actor::User);
    EXPECT_TRUE(made.ok()) << (made.errors.empty() ? "" : made.errors.front().message);
  }
  return tree;
}

class PluginFolder {
 public:
  PluginFolder() {
    std::string pattern = ::testing::TempDir() + "/plugin-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~PluginFolder() { std::filesystem::remove_all(path_); }

  Program add(const std::string& pack, const std::string& text) {
    const std::string program = path_ + "/" + pack;
    std::ofstream(program) << text;
    ::chmod(program.c_str(), 0755);
    return {pack, "1.0", program, path_};
  }
  // A Python plugin with the SDK; `body` is indented by four spaces.
  Program add_python(const std::string& pack, const std::string& body) {
    return add(pack,
               "#!/usr/bin/env python3\nimport os, sys, signal\nfrom muster_plugin import *\n"
               "class P(Plugin):\n" +
                   body + "\nrun(P)\n");
  }
  // Speaks the protocol by itself up to the first call, and then does `body`.
  Program add_raw(const std::string& pack, const std::string& body) {
    return add(pack,
               "#!/usr/bin/env python3\nimport json, os, sys, signal\n"
               "first = json.loads(sys.stdin.readline())\n"
               "print(json.dumps({'jsonrpc': '2.0', 'id': first['id'], 'result': {\n"
               "    'protocol': 1, 'name': first['params']['pack'],\n"
               "    'methods': ['create_configuration', 'create_lock_tasks']}}), flush=True)\n"
               "call = json.loads(sys.stdin.readline())\n" +
                   body + "\n");
  }

 private:
  std::string path_;
};

struct Logged {
  std::mutex mutex;
  std::vector<std::string> lines;
};

inline HostOptions test_options(Logged* logged = nullptr) {
  HostOptions options;
  options.session.muster_version = "test";
  options.session.sdk = MUSTER_SDK;
  options.session.log = [logged](log::Level, const std::string& pack, std::string_view text) {
    if (logged == nullptr) return;
    const std::lock_guard lock(logged->mutex);
    logged->lines.push_back(pack + ": " + std::string(text));
  };
  return options;
}

}  // namespace muster::plugin::testing
