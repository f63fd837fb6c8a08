"""Items and queries."""

import unittest

from muster_plugin import FuturePropertyValue, Item, ReadOnlyError
from muster_plugin.model import Model

from world import N1, make_model, node


class FakeAccess:
    def __init__(self):
        self.writes = []

    def view(self, item, name):
        return f"{name} of {item.vpath}"

    def write(self, item, name, value):
        self.writes.append((item.vpath, name, value))


def read(fake, only_types=None):
    access = FakeAccess()
    model = Model(fake.schema, access, only_types)
    model.add(fake.rows)
    model.finish(fake.revision)
    return model, access


class Reading(unittest.TestCase):
    def setUp(self):
        self.model, self.access = read(make_model())
        self.n1 = self.model.find(N1)

    def test_dots_reach_children_properties_and_views(self):
        self.assertEqual(self.model.root.deployments.d.clusters.c.nodes.n1, self.n1)
        self.assertEqual(self.n1.hostname, "one")
        self.assertEqual(self.n1.items.nginx.version, "1")
        self.assertEqual(self.n1.url, f"url of {N1}")
        self.assertIsNone(self.model.find("/software/items/nginx").state)
        self.assertEqual([item.item_id for item in self.n1.items], ["nginx"])
        self.assertEqual(len(self.n1.items), 1)

    def test_a_name_that_is_not_there_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(AttributeError, "has no child, property or view 'hostnam'"):
            print(self.n1.hostnam)
        with self.assertRaisesRegex(AttributeError, "has no item 'n9'"):
            print(self.model.root.deployments.d.clusters.c.nodes.n9)

    def test_knows_where_it_stands(self):
        package = self.n1.items.nginx
        self.assertEqual(package.vpath, N1 + "/items/nginx")
        self.assertEqual(package.get_node(), self.n1)
        self.assertEqual(package.get_cluster().item_id, "c")
        self.assertIsNone(package.get_ms())
        self.assertEqual(package.get_source().vpath, "/software/items/nginx")
        self.assertIsNone(self.n1.get_source())
        self.assertEqual(package.parent.parent, self.n1)
        self.assertTrue(self.n1.is_node())
        self.assertTrue(self.n1.get_cluster().is_cluster())
        self.assertFalse(self.n1.items.is_instance("package"))
        self.assertEqual(self.n1.get_ancestor("deployment").item_id, "d")

    def test_a_query_of_all_leaves_inherited_items_out(self):
        found = [item.vpath for item in self.model.query("package", {})]
        self.assertEqual(found, ["/software/items/all", "/software/items/nginx"])

    def test_a_query_below_an_item_has_inherited_ones(self):
        self.assertEqual(self.n1.query("software-item"), [self.n1.items.nginx])
        self.assertEqual(self.n1.query("node"), [])

    def test_criteria_are_properties_ids_and_predicates(self):
        def ids(type_id, **criteria):
            return [item.item_id for item in self.model.query(type_id, criteria)]
        self.assertEqual(ids("node", hostname="two"), ["n2"])
        self.assertEqual(ids("node", item_id="n1", is_locked="false"), ["n1"])
        self.assertEqual(ids("package", is_initial=True), ["nginx"])
        self.assertEqual(ids("package", is_initial=False), ["all"])
        self.assertEqual(ids("package", item_type_id="bundle"), ["all"])
        self.assertEqual(ids("node", nothing="x"), [])
        self.assertEqual(ids("node", is_strange=True), [])
        with self.assertRaisesRegex(ValueError, "no item type 'nod'"):
            ids("nod")

    def test_types_that_were_not_asked_for_cannot_be_queried(self):
        model, _ = read(make_model(), ["software-item"])
        self.assertEqual(len(model.query("package", {})), 2)
        with self.assertRaisesRegex(ValueError, "'node' were not asked for"):
            model.query("node", {})

    def test_states_and_applied_properties(self):
        bundle = self.model.find("/software/items/all")
        self.assertTrue(bundle.is_applied())
        self.assertEqual(bundle.get_state(), "Applied")
        self.assertEqual(bundle.properties["version"], "2")
        self.assertEqual(bundle.applied_properties["version"], "1")
        self.assertTrue(bundle.applied_properties_determinable)
        self.assertEqual(self.n1.applied_properties, {})

    def test_states_below(self):
        model, _ = read(make_model({"n1": {**node("one", nginx={"state": "Updated"}),
                                           "state": "Applied"}}))
        n1 = model.find(N1)
        self.assertTrue(n1.has_updated_dependencies())
        self.assertFalse(n1.has_removed_dependencies())

    def test_same_applied_is_read_from_properties(self):
        fake = make_model()
        number = next(i for i, row in enumerate(fake.rows) if row[1] == "n1")
        fake.rows[number][4] = 8 | 16
        model, _ = read(fake)
        self.assertEqual(model.find(N1).applied_properties["hostname"], "one")

    def test_a_secret_reads_as_a_future(self):
        model, _ = read(make_model({"n1": node("one", properties={"password": None})}))
        value = model.find(N1).password
        self.assertIsInstance(value, FuturePropertyValue)
        self.assertEqual(value.document(), {"$future": {"item": N1, "property": "password"}})
        self.assertEqual(model.find(N1).properties["password"], value)

    def test_a_path_where_nothing_is(self):
        self.assertIsNone(self.model.find("/nowhere"))
        self.assertIsInstance(self.model.find("/"), Item)


class Writing(unittest.TestCase):
    def setUp(self):
        self.model, self.access = read(make_model())
        self.n1 = self.model.find(N1)

    def test_assignment_writes_and_is_seen(self):
        self.n1.is_locked = "true"
        self.assertEqual(self.n1.is_locked, "true")
        self.n1.clear_property("is_locked")
        self.assertIsNone(self.n1.is_locked)
        self.assertEqual(self.access.writes, [(N1, "is_locked", "true"), (N1, "is_locked", None)])

    def test_what_plugins_may_not_write_is_refused(self):
        with self.assertRaises(ReadOnlyError):
            self.n1.hostname = "x"
        with self.assertRaisesRegex(AttributeError, "has no property 'colour'"):
            self.n1.colour = "red"
        with self.assertRaisesRegex(TypeError, "must be a text"):
            self.n1.is_locked = True
        self.assertEqual(self.access.writes, [])

    def test_a_future_of_what_is_known_is_refused(self):
        with self.assertRaisesRegex(ValueError, "known now"):
            FuturePropertyValue(self.n1, "hostname")
        with self.assertRaises(AttributeError):
            FuturePropertyValue(self.n1, "nothing")


if __name__ == "__main__":
    unittest.main()
