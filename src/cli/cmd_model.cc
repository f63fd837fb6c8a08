#include "cli/apply.h"
#include "cli/commands.h"
#include "cli/model.h"

namespace muster::cli {
namespace {

void add_path(CLI::App& app, std::string& path, const std::string& help = "Path of the item") {
  app.add_option("path", path, help)->required()->type_name("PATH");
}

void add_values(CLI::App& app, std::vector<std::string>& values, const std::string& help) {
  app.add_option("values", values, help)->type_name("NAME=VALUE");
}

void add_create(CLI::App& model, Context& context) {
  CLI::App* app =
      add_command(model, "create", "Create an item",
                  "  muster model create /software/items/ntp --type package name=chrony\n");
  auto options = std::make_shared<ItemOptions>();
  add_path(*app, options->path, "Where it will be");
  app->add_option("-t,--type", options->type, "Type of the item")->required()->type_name("TYPE");
  add_values(*app, options->values, "Its properties");
  add_edit_options(*app, options->edit);
  on_controller(app, context, [&context, options](ApiClient& client) {
    return create_item(context, client, *options);
  });
}

void add_inherit(CLI::App& model, Context& context) {
  CLI::App* app =
      add_command(model, "inherit", "Make an item that takes everything over from another one",
                  "  muster model inherit /deployments/d1/clusters/db/nodes/n1/items/ntp "
                  "/software/items/ntp\n"
                  "  muster model inherit .../items/ntp /software/items/ntp version=4.3\n");
  auto options = std::make_shared<ItemOptions>();
  add_path(*app, options->path, "Where it will be");
  app->add_option("source", options->source, "Path of what it inherits from")
      ->required()
      ->type_name("SOURCE");
  add_values(*app, options->values, "Properties that it has instead of those of its source");
  add_edit_options(*app, options->edit);
  on_controller(app, context, [&context, options](ApiClient& client) {
    return inherit_item(context, client, *options);
  });
}

void add_update(CLI::App& model, Context& context) {
  CLI::App* app =
      add_command(model, "update", "Change properties of an item",
                  "  muster model update /software/items/ntp version=4.3\n"
                  "  muster model update /software/items/ntp --unset version --why 'pin less'\n");
  auto options = std::make_shared<ItemOptions>();
  add_path(*app, options->path);
  add_values(*app, options->values, "New values");
  add_repeated(*app, "--unset", options->unset,
               "Back to the default, or to the value of its source; may be repeated")
      ->type_name("NAME");
  add_edit_options(*app, options->edit);
  on_controller(app, context, [&context, options](ApiClient& client) {
    return update_item(context, client, *options);
  });
}

void add_remove(CLI::App& model, Context& context) {
  CLI::App* app = add_command(model, "remove", "Remove an item and everything below it",
                              "  muster model remove /software/items/ntp --dry-run\n");
  auto options = std::make_shared<ItemOptions>();
  add_path(*app, options->path);
  add_edit_options(*app, options->edit);
  on_controller(app, context, [&context, options](ApiClient& client) {
    return remove_item(context, client, *options);
  });
}

void add_show(CLI::App& model, Context& context) {
  CLI::App* app =
      add_command(model, "show", "Show an item",
                  "  muster model show /deployments/d1\n"
                  "  muster model show /deployments/d1/clusters/db --depth 2 -o yaml\n");
  auto path = std::make_shared<std::string>();
  auto depth = std::make_shared<std::uint64_t>(0);
  add_path(*app, *path);
  app->add_option("--depth", *depth, "How many levels below it are shown too (default 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 64).description(""));
  on_controller(app, context, [&context, path, depth](ApiClient& client) {
    return show_item(context, client, *path, *depth);
  });
}

void add_tree(CLI::App& model, Context& context) {
  CLI::App* app = add_command(model, "tree", "Show the items below an item",
                              "  muster model tree\n"
                              "  muster model tree /deployments --depth 4\n");
  auto path = std::make_shared<std::string>("/");
  auto depth = std::make_shared<std::uint64_t>(10);
  app->add_option("path", *path, "Path of the item (default /)")->type_name("PATH");
  app->add_option("--depth", *depth, "How many levels (default 10)")
      ->type_name("N")
      ->check(CLI::Range(0, 64).description(""));
  on_controller(app, context, [&context, path, depth](ApiClient& client) {
    return show_tree(context, client, *path, *depth);
  });
}

void add_find(CLI::App& model, Context& context) {
  CLI::App* app = add_command(model, "find", "Find items",
                              "  muster model find --type node --state Updated\n"
                              "  muster model find --type package --property name=chrony\n"
                              "  muster model find --below /deployments/d1 -o name\n");
  auto options = std::make_shared<FindOptions>();
  app->add_option("--type", options->type, "Of this type, or of one that extends it")
      ->type_name("TYPE");
  app->add_option("--state", options->state, "In this state")
      ->type_name("Initial|Applied|Updated|ForRemoval|Removed");
  app->add_option("--id", options->id, "With this id")->type_name("ID");
  add_repeated(*app, "--property", options->properties,
               "With this value, its own or inherited; may be repeated")
      ->type_name("NAME=VALUE");
  app->add_option("--below", options->below, "At or below this item")->type_name("PATH");
  app->add_option("--limit", options->limit, "At most this many (default: all)")->type_name("N");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return find_items(context, client, *options);
  });
}

void add_history(CLI::App& model, Context& context) {
  CLI::App* history = add_command(model, "history", "List the revisions of the model",
                                  "  muster model history --limit 10\n");
  auto limit = std::make_shared<std::uint64_t>(50);
  history->add_option("--limit", *limit, "At most this many, newest first (default 50)")
      ->type_name("N")
      ->check(CLI::Range(1, 500).description(""));
  on_controller(history, context, [&context, limit](ApiClient& client) {
    return show_history(context, client, *limit);
  });

  CLI::App* diff = add_command(model, "diff", "Show what has changed between two revisions",
                               "  muster model diff 4 7\n");
  auto from = std::make_shared<std::uint64_t>(0);
  auto to = std::make_shared<std::uint64_t>(0);
  diff->add_option("from", *from, "Revision before")->required()->type_name("R1");
  diff->add_option("to", *to, "Revision after")->required()->type_name("R2");
  on_controller(diff, context, [&context, from, to](ApiClient& client) {
    return diff_revisions(context, client, *from, *to);
  });

  CLI::App* restore =
      add_command(model, "restore", "Make the model what it was at a revision, as a new revision",
                  "  muster model restore 4 --dry-run\n"
                  "  muster model restore 4 --why 'the new version does not start'\n");
  auto number = std::make_shared<std::uint64_t>(0);
  auto edit = std::make_shared<EditOptions>();
  restore->add_option("revision", *number, "The revision")->required()->type_name("R");
  add_edit_options(*restore, *edit);
  on_controller(restore, context, [&context, number, edit](ApiClient& client) {
    return restore_revision(context, client, *number, *edit);
  });
}

void add_file_options(CLI::App& app, ApplyOptions& options) {
  add_repeated(app, "-f,--file", options.files,
               "Model file (YAML, JSON or LITP's XML), or a folder of them; may be repeated")
      ->required()
      ->type_name("FILE");
  app.add_option("--at", options.at, "The item that the file declares (default /)")
      ->type_name("PATH");
  app.add_flag("--prune", options.prune,
               "What stands below a declared item and is not declared is removed");
  add_repeated(app, "--set", options.values, "Value of a placeholder %%NAME%%; may be repeated")
      ->type_name("NAME=VALUE");
  app.add_option("--values", options.values_file, "File of such values, YAML or JSON")
      ->type_name("FILE");
}

void add_apply(CLI::App& root, Context& context) {
  CLI::App* apply = add_command(root, "apply", "Make the model what files declare",
                                "  muster apply -f site.yaml\n"
                                "  muster apply -f site/ --prune --why 'web2 is retired'\n"
                                "  muster apply -f site.xml --set gateway=10.0.0.1\n");
  auto options = std::make_shared<ApplyOptions>();
  add_file_options(*apply, *options);
  add_edit_options(*apply, options->edit);
  on_controller(apply, context, [&context, options](ApiClient& client) {
    return apply_files(context, client, *options);
  });
}

void add_diff(CLI::App& root, Context& context) {
  CLI::App* diff = add_command(root, "diff", "Show what apply would change",
                               "  muster diff -f site.yaml\n"
                               "  muster diff -f site.yaml --prune --detailed-exitcode\n");
  auto options = std::make_shared<ApplyOptions>();
  add_file_options(*diff, *options);
  diff->add_flag("--detailed-exitcode", options->detailed_exitcode,
                 "End with 2 if something would change");
  on_controller(diff, context, [&context, options](ApiClient& client) {
    return diff_files(context, client, *options);
  });
}

void add_export(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "export", "Write the model as a model file",
                              "  muster export > site.yaml\n"
                              "  muster export /deployments/d1 --format xml --to d1.xml\n");
  auto options = std::make_shared<ExportOptions>();
  app->add_option("path", options->path, "Path of the item (default /)")->type_name("PATH");
  app->add_option("--format", options->format, "Of the file (default yaml)")
      ->type_name("yaml|json|xml")
      ->check(CLI::IsMember({"yaml", "json", "xml"}).description(""));
  app->add_option("--to", options->file, "File to write (default: stdout)")->type_name("FILE");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return export_model(context, client, *options);
  });
}

}  // namespace

void add_edit_options(CLI::App& app, EditOptions& options) {
  app.add_option("--why", options.why, "The reason, kept in the history")->type_name("TEXT");
  app.add_flag("--dry-run", options.dry_run, "Only show what would change");
  app.add_option("--if-match", options.if_match,
                 "Only if nobody has changed it: an item's ETag, or model-N for revision N")
      ->type_name("ETAG");
  app.add_option("--idempotency-key", options.idempotency_key,
                 "Of an earlier try of the same change, so that it is done once")
      ->type_name("KEY");
}

void add_model_commands(CLI::App& root, Context& context) {
  CLI::App* model = add_command(root, "model", "Look at the deployment model and change it",
                                "  muster model tree /deployments\n"
                                "  muster model update /software/items/ntp version=4.3\n"
                                "  muster model history\n");
  model->require_subcommand(1);
  add_show(*model, context);
  add_tree(*model, context);
  add_find(*model, context);
  add_create(*model, context);
  add_inherit(*model, context);
  add_update(*model, context);
  add_remove(*model, context);
  add_history(*model, context);
  add_apply(root, context);
  add_diff(root, context);
  add_export(root, context);
}

}  // namespace muster::cli
