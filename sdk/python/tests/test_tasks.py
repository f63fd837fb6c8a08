"""Tasks, and the calls that make them."""

import io
import json
import unittest

from muster_plugin import (CallbackExecutionException, CallbackTask, ConfigTask,
                           FuturePropertyValue, OrderedTaskList, PlanStoppedException, Plugin,
                           RemoteExecutionTask, ValidationError, ViewError, item_validator,
                           property_validator, view)
from muster_plugin.server import Server
from muster_plugin.testing import Harness

from world import N1, make_model


class Sample(Plugin):
    version = "2.0"

    def update_model(self, ctx):
        for node in ctx.query("node"):
            node.is_locked = "true"

    def validate_model(self, ctx):
        return [ValidationError(node.vpath, "too short", "hostname")
                for node in ctx.query("node", hostname="one")]

    def create_configuration(self, ctx):
        n1 = ctx.query_by_path(N1)
        first = ConfigTask(n1, n1.items.nginx, "install", "package", "nginx", version="1",
                           tags={"b", "a"}, locked=FuturePropertyValue(n1, "is_locked"))
        first.replaces.add(("package", "apache2"))
        first.model_items.add(n1.items)
        first.persist = False
        second = RemoteExecutionTask([n1], n1, "run", "exec", argv=("/bin/true",))
        second.requires.update({first, n1.items.nginx, ("file", "/etc/x")})
        forgotten = CallbackTask(n1, "boot", self.boot, 1, [None], tag_name="T", why="x")
        second.requires.add(forgotten)
        chain = OrderedTaskList(n1, [ConfigTask(n1, n1, str(i), "file", f"/{i}", description="d")
                                     for i in range(3)])
        return [first, second, chain]

    def create_lock_tasks(self, ctx, node):
        return (CallbackTask(node, "lock", self.boot), CallbackTask(node, "unlock", self.boot))

    def boot(self, api, *args, **kwargs):
        api.log(f"{args} {kwargs}")
        api.query_by_path(N1).is_locked = "false"
        if not api.is_running():
            raise PlanStoppedException("stopped")

    def fails(self, api):
        raise CallbackExecutionException("no such host")

    @property_validator
    def check_word(self, value):
        return None if value.islower() else f"{value} is not in lower case"

    @item_validator
    def check_all(self, properties):
        return "a and b" if properties.get("a") and properties.get("b") else None

    @view
    def url(self, ctx, item):
        if item.hostname == "two":
            raise ViewError("no url")
        return "http://" + item.hostname

    def _helper(self):
        pass


class Documents(unittest.TestCase):
    def test_every_kind_becomes_a_document(self):
        tasks = Harness(Sample, make_model()).create_configuration()
        self.assertEqual(len(tasks), 6)
        self.assertEqual(tasks[0], {
            "kind": "config", "item": N1 + "/items/nginx", "description": "install", "node": N1,
            "call": ["package", "nginx"], "persist": False, "model_items": [N1 + "/items"],
            "replaces": [["package", "apache2"]],
            "attributes": {"version": "1", "tags": ["a", "b"],
                           "locked": {"$future": {"item": N1, "property": "is_locked"}}}})
        self.assertEqual(tasks[1]["nodes"], [N1])
        self.assertEqual(tasks[1]["inputs"], {"argv": ["/bin/true"]})
        self.assertEqual(tasks[1]["requires"],
                         [{"call": ["file", "/etc/x"]}, {"item": N1 + "/items/nginx"},
                          {"task": 0}, {"task": 5}])
        self.assertEqual(tasks[5]["method"], "boot")
        self.assertEqual(tasks[5]["arguments"], {"args": [1, [None]], "kwargs": {"why": "x"}})
        self.assertEqual(tasks[5]["tag"], "T")
        self.assertEqual([task.get("requires") for task in tasks[2:5]],
                         [None, [{"task": 2}], [{"task": 3}]])
        self.assertEqual(tasks[2]["attributes"], {"description": "d"})

    def test_arguments_that_cannot_be_sent_are_refused(self):
        class Wrong(Plugin):
            def create_configuration(self, ctx):
                n1 = ctx.query_by_path(N1)
                return [ConfigTask(n1, n1, "d", "file", "/x", mode=object())]
        with self.assertRaisesRegex(RuntimeError, "TypeError: attributes of 'd'"):
            Harness(Wrong, make_model()).create_configuration()

    def test_a_callback_without_arguments_has_none(self):
        answer = Harness(Sample, make_model()).call("create_lock_tasks", node=N1)
        self.assertNotIn("arguments", answer["lock"])

    def test_numbers_that_json_does_not_have_are_refused_by_task(self):
        for value in (float("nan"), float("inf")):
            def body(plugin, ctx, value=value):
                n1 = ctx.query_by_path(N1)
                return [ConfigTask(n1, n1, "d", "file", "/x", limits=[1.5, {"most": value}])]
            plugin = type("Wrong", (Plugin,), {"create_configuration": body})
            with self.assertRaisesRegex(RuntimeError, f"attributes of 'd' .for {N1}.: {value} is"):
                Harness(plugin, make_model()).create_configuration()

    def test_a_view_has_only_what_json_has(self):
        class Wrong(Plugin):
            @view
            def url(self, ctx, item):
                return float("nan")
        with self.assertRaisesRegex(RuntimeError, f"view url of {N1}: nan is a number that"):
            Harness(Wrong, make_model()).call("view", method="url", name="url", path=N1)

    def test_answers_that_are_no_lists_are_refused(self):
        for method, answer in (("create_configuration", 7), ("create_configuration", "ab"),
                               ("validate_model", 7)):
            plugin = type("Wrong", (Plugin,), {method: lambda self, ctx, a=answer: a})
            with self.assertRaisesRegex(RuntimeError, f"{method} answers with a list of .*, not "):
                Harness(plugin, make_model()).call(method)

    def test_locks_are_pairs_that_require_nothing(self):
        def pair(plugin, node):
            tasks = [CallbackTask(node, name, plugin.go) for name in ("in", "out")]
            tasks[1].requires.add(tasks[0])
            return tasks
        told = "answers with a pair of a lock task and an unlock task, or with nothing, not "
        for body, wrong in ((lambda p, c, n: 7, told + "7"), (lambda p, c, n: 0, told + "0"),
                            (lambda p, c, n: "ab", told + "'ab'"),
                            (lambda p, c, n: CallbackTask(n, "x", p.go), told + "<CallbackTask"),
                            (lambda p, c, n: (None, None), told),
                            (lambda p, c, n: pair(p, n),
                             f"the unlock task 'out' .for {N1}. has 'requires'; a lock stands")):
            plugin = type("Wrong", (Plugin,), {"create_lock_tasks": body,
                                               "go": lambda self, api: None})
            with self.assertRaisesRegex(RuntimeError, wrong):
                Harness(plugin, make_model()).call("create_lock_tasks", node=N1)
        for answer in (None, (), []):
            plugin = type("None", (Plugin,), {"create_lock_tasks": lambda p, c, n, a=answer: a})
            self.assertIsNone(Harness(plugin, make_model()).call("create_lock_tasks", node=N1))

    def test_a_callback_is_a_method_of_the_plugin(self):
        class Wrong(Plugin):
            def create_configuration(self, ctx):
                return [CallbackTask(ctx.root, "d", print)]
        with self.assertRaisesRegex(RuntimeError, "must be a method of the plugin"):
            Harness(Wrong, make_model()).create_configuration()

    def test_wrong_nodes_items_and_requires_are_refused(self):
        model = make_model()
        for body, told in (
                (lambda p, c: [ConfigTask(c.root, c.root, "d", "file", "/x")], "must be a node"),
                (lambda p, c: [ConfigTask(c.query("node")[0], "x", "d", "file", "/x")], "an item"),
                (lambda p, c: [RemoteExecutionTask([], c.root, "d", "exec")], "has no nodes"),
                (lambda p, c: [OrderedTaskList(c.root, [])], "at least one task"),
                (lambda p, c: [c.root], "answers with tasks"),
                (lambda p, c: [_requiring(c, ("one",))], "no pair of call_type and call_id")):
            plugin = type("Wrong", (Plugin,), {"create_configuration": body})
            with self.assertRaisesRegex(RuntimeError, told):
                Harness(plugin, model).create_configuration()

    def test_tasks_of_an_earlier_call_are_refused_by_name(self):
        kept = []

        class Keeping(Plugin):
            def create_configuration(self, ctx):
                n1 = ctx.query_by_path(N1)
                task = ConfigTask(n1, n1, f"call {len(kept)}", "file", "/x")
                task.requires.update(kept)
                kept.append(task)
                return [task]

        class Returning(Plugin):
            def create_configuration(self, ctx):
                return kept

        harness = Harness(Keeping, make_model())
        self.assertEqual(len(harness.create_configuration()), 1)
        with self.assertRaisesRegex(
                RuntimeError, f"'call 1' .for {N1}. requires 'call 0' .for {N1}., which was made "
                              "in an earlier call"):
            harness.create_configuration()
        with self.assertRaisesRegex(RuntimeError, "'call 0' .for .*. was made in an earlier call"):
            Harness(Returning, make_model()).create_configuration()


def _requiring(ctx, entry):
    task = ConfigTask(ctx.query("node")[0], ctx.root, "d", "file", "/x")
    task.requires.add(entry)
    return task


class Calls(unittest.TestCase):
    def setUp(self):
        self.harness = Harness(Sample, make_model())

    def test_update_writes(self):
        self.harness.call("update_model")
        self.assertEqual(len(self.harness.writes), 2)
        self.assertEqual(self.harness.writes[0], {"path": N1, "set": {"is_locked": "true"}})

    def test_validation(self):
        self.assertEqual(self.harness.validate_model(),
                         [{"path": N1, "message": "too short", "property": "hostname"}])

    def test_locks(self):
        answer = self.harness.call("create_lock_tasks", node=N1)
        self.assertEqual(answer["lock"]["description"], "lock")
        self.assertEqual(answer["unlock"]["description"], "unlock")

    def test_callbacks(self):
        self.harness.call("callback", item=N1, method="boot",
                          arguments={"args": [1], "kwargs": {"why": "x"}})
        self.assertEqual(self.harness.log, ["(1,) {'why': 'x'}"])
        self.assertEqual(len(self.harness.writes), 1)
        with self.assertRaisesRegex(RuntimeError, "^1: no such host"):
            self.harness.call("callback", item=N1, method="fails", arguments={})
        with self.assertRaisesRegex(RuntimeError, "^-32602: .*no callback '_helper'"):
            self.harness.call("callback", item=N1, method="_helper", arguments={})
        stopping = Harness(Sample, make_model(), running=False)
        with self.assertRaisesRegex(RuntimeError, "^3: stopped"):
            stopping.call("callback", item=N1, method="boot", arguments={})

    def test_checks(self):
        answer = self.harness.call("check", checks=[
            {"method": "check_word", "path": N1, "property": "p", "value": "Big"},
            {"method": "check_word", "path": N1, "property": "p", "value": "small"},
            {"method": "check_all", "path": N1, "properties": {"a": "1", "b": "2"}}])
        self.assertEqual(answer["problems"], ["Big is not in lower case", "", "a and b"])
        with self.assertRaisesRegex(RuntimeError, "^-32602"):
            self.harness.call("check", checks=[{"method": "boot", "value": "x"}])

    def test_views(self):
        answer = self.harness.call("view", method="url", name="url", path=N1)
        self.assertEqual(answer, {"value": "http://one"})
        with self.assertRaisesRegex(RuntimeError, "^1: no url"):
            self.harness.call("view", method="url", name="url", path=N1[:-1] + "2")

    def test_a_mistake_tells_where_it_is(self):
        class Wrong(Plugin):
            def create_configuration(self, ctx):
                return 1 / 0
        with self.assertRaisesRegex(RuntimeError, r"-32603: ZeroDivisionError: .*test_tasks.py:"):
            Harness(Wrong, make_model()).create_configuration()

    def test_what_is_not_overridden_is_not_offered(self):
        class Nothing(Plugin):
            pass
        with self.assertRaisesRegex(RuntimeError, "^-32601"):
            Harness(Nothing, make_model()).call("update_model")


class Line(unittest.TestCase):
    def test_initialize_tells_what_there_is(self):
        ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
               "params": {"protocol": 1, "pack": "web", "types": make_model().types}}
        out = io.BytesIO()
        Server(Sample, io.BytesIO(json.dumps(ask).encode() + b"\n"), out).serve()
        answer = json.loads(out.getvalue())["result"]
        self.assertEqual(answer["name"], "web")
        self.assertEqual(answer["version"], "2.0")
        self.assertEqual(answer["callbacks"], ["boot", "fails"])
        self.assertEqual(answer["checks"], ["check_all", "check_word"])
        self.assertEqual(answer["views"], ["url"])
        self.assertEqual(set(answer["methods"]),
                         {"update_model", "validate_model", "create_configuration",
                          "create_lock_tasks", "check", "view", "callback"})

    def test_another_protocol_is_refused(self):
        ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": 9}}
        out = io.BytesIO()
        Server(Sample, io.BytesIO(json.dumps(ask).encode() + b"\n"), out).serve()
        self.assertEqual(json.loads(out.getvalue())["error"]["code"], -32602)

    def test_answers_are_the_same_in_every_process(self):
        first = Harness(Sample, make_model()).create_configuration()
        self.assertEqual(Harness(Sample, make_model()).create_configuration(), first)


if __name__ == "__main__":
    unittest.main()
