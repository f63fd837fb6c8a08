#include "cli/commands.h"
#include "cli/types.h"

namespace muster::cli {

void add_type_commands(CLI::App& root, Context& context) {
  CLI::App* types = add_command(root, "types", "List and look at the types of items and properties",
                                "  muster types list\n"
                                "  muster types list --extends software-item\n"
                                "  muster types show node\n");
  types->alias("type");
  types->require_subcommand(1);

  CLI::App* list =
      add_command(*types, "list", "List the types of items, of the controller or of folders",
                  "  muster types list --of files\n"
                  "  muster types list --extends software-item\n"
                  "  muster types list --property-types\n");
  auto listed = std::make_shared<pack::PackOptions>();
  auto options = std::make_shared<TypeListOptions>();
  list->add_option("--of", options->pack, "Only those of this pack")->type_name("PACK");
  CLI::Option* extends =
      list->add_option("--extends", options->extends, "Only this type and those that extend it")
          ->type_name("TYPE");
  list->add_flag("--property-types", options->property_types, "List the types of properties")
      ->excludes(extends);
  add_server_pack_options(*list, *listed);
  on_run(list, context,
         [&context, listed, options] { return list_types(context, *listed, *options); });

  CLI::App* show =
      add_command(*types, "show", "Show a type as a tree, of the controller or of folders",
                  "  muster types show node\n"
                  "  muster types show deployment --depth 3\n"
                  "  muster types show hostname\n");
  auto shown = std::make_shared<pack::PackOptions>();
  auto id = std::make_shared<std::string>();
  auto depth = std::make_shared<int>(1);
  show->add_option("type", *id, "The type of an item or a property")->required()->type_name("TYPE");
  show->add_option("--depth", *depth, "How many levels of children (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 6).description(""));
  add_server_pack_options(*show, *shown);
  on_run(show, context,
         [&context, shown, id, depth] { return show_type(context, *shown, *id, *depth); });
}

}  // namespace muster::cli
