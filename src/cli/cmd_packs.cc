#include "cli/commands.h"
#include "cli/packs.h"

namespace muster::cli {
namespace {

void add_check(CLI::App& packs, Context& context) {
  CLI::App* app =
      add_command(packs, "check", "Check packs while they are being written; needs no controller",
                  "  muster packs check ./my-pack\n"
                  "  muster packs check --core-pack ./my-core ./my-pack\n");
  auto options = std::make_shared<pack::PackOptions>();
  app->add_option("dir", options->extra, "Folders, each a pack")
      ->required()
      ->expected(1, 1000)
      ->type_name("DIR");
  add_pack_options(*app, *options);
  on_run(app, context, [&context, options] { return check_packs(context, *options); });
}

void add_show_pack(CLI::App& packs, Context& context) {
  CLI::App* app = add_command(packs, "show", "Show one pack, with the types that it has",
                              "  muster packs show files\n");
  auto options = std::make_shared<pack::PackOptions>();
  auto name = std::make_shared<std::string>();
  app->add_option("name", *name, "The pack")->required()->type_name("PACK");
  add_server_pack_options(*app, *options);
  on_run(app, context, [&context, options, name] { return show_pack(context, *options, *name); });
}

}  // namespace

void add_pack_options(CLI::App& app, pack::PackOptions& options) {
  app.add_option("--packs", options.packs,
                 "The folder of packs (default: those that came with this program)")
      ->type_name("DIR");
  app.add_option("--core-pack", options.core_pack, "The core pack (default: core in that folder)")
      ->type_name("DIR");
}

void add_server_pack_options(CLI::App& app, pack::PackOptions& options) {
  add_pack_options(app, options);
  add_repeated(app, "--pack", options.extra, "One more pack, by its folder; may be repeated")
      ->type_name("DIR");
}

void add_pack_commands(CLI::App& root, Context& context) {
  CLI::App* packs = add_command(root, "packs", "List, look at and check packs",
                                "  muster packs list\n"
                                "  muster packs show files\n"
                                "  muster packs check ./my-pack\n"
                                "  muster packs schema > model.schema.json\n");
  packs->alias("pack");
  packs->require_subcommand(1);

  CLI::App* list = add_command(*packs, "list", "List the packs of the controller, or of folders",
                               "  muster packs list -o wide\n");
  auto listed = std::make_shared<pack::PackOptions>();
  add_server_pack_options(*list, *listed);
  on_run(list, context, [&context, listed] { return list_packs(context, *listed); });

  add_show_pack(*packs, context);
  add_check(*packs, context);

  CLI::App* schema =
      add_command(*packs, "schema", "Print the JSON Schema of a model file, for editors",
                  "  muster packs schema > model.schema.json\n"
                  "  muster packs schema --pack ./my-pack\n");
  auto options = std::make_shared<pack::PackOptions>();
  add_server_pack_options(*schema, *options);
  on_run(schema, context, [&context, options] { return print_schema(context, *options); });
}

}  // namespace muster::cli
