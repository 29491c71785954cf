"""page_test.py ANYSHAPE: pages of `--format html`, opened and clicked through in a headless Chromium.

The browser is $ANYSHAPE_CHROMIUM or one on the path.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import browser
import numpy as np
import onnx
from onnx import TensorProto, helper

ANYSHAPE = sys.argv[1] if len(sys.argv) > 1 else "anyshape"
HOSTILE = '</script><img src=x onerror="window.broken=1">\u202egnp.exe\x07'


def model(nodes: list[Any], inputs: dict[str, list[Any]], outputs: list[str],
          constants: dict[str, Any]) -> onnx.ModelProto:  # fmt: skip
    floats = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    weights = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", floats, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def baked() -> onnx.ModelProto:
    """Two layers; the second holds a baked size, and arithmetic on sizes is between them."""
    def add(name: str, *ends: str) -> Any:
        return helper.make_node("Add", ends[:2], ends[2:], name=name)

    nodes = [
        add("/net/first/Add", "x", "one", "a"), add("/net/first/Add_1", "a", "one", "b"),
        helper.make_node("Shape", ["b"], ["sizes"], name="/net/Shape"),
        helper.make_node("Reshape", ["b", "target"], ["c"], name="/net/second/Reshape"),
        add("/net/second/Add", "c", "one", "y"),
        helper.make_node("ConstantOfShape", ["sizes"], ["zeros"], name="/net/zeros"),
        add("/net/last", "b", "zeros", "z"),
    ]  # fmt: skip
    return model(nodes, {"x": ["batch", "seq", 4]}, ["y", "z"],
                 {"one": np.ones(1, np.float32), "target": np.array([-1, 120, 4])})  # fmt: skip


def hostile() -> onnx.ModelProto:
    nodes = [helper.make_node("Relu", [HOSTILE], ["y"], name="/" + HOSTILE)]
    return model(nodes, {HOSTILE: [HOSTILE, 4]}, ["y"], {})


class Page(unittest.TestCase):
    seen: browser.Browser
    home: Path

    def tell(self, *words: Any) -> None:
        done = subprocess.run([ANYSHAPE, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def open(self, made: onnx.ModelProto, command: str = "check", *words: Any) -> None:
        path = self.home / "model.onnx"
        onnx.save(made, path)
        self.tell(command, path, "--format", "html", "-o", self.home / "page.html", *words)
        self.seen.events.clear()
        self.seen.open((self.home / "page.html").as_uri())
        self.assertEqual(self.seen.happened("Runtime.exceptionThrown"), [])
        self.drawn()

    def drawn(self) -> None:
        self.seen.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, place: str) -> str:
        return self.seen.value(f"document.querySelector({json.dumps(place)}).innerText")

    def press(self, wanted: str) -> None:
        """Clicks the middle of what is drawn for `wanted`, an expression over one hit."""
        x, y = self.seen.value(f"""(() => {{
            const hit = hits.find((hit) => {wanted}), at = canvas.getBoundingClientRect();
            return [at.x + view.x + (hit.x + hit.w / 2) * view.scale, at.y + view.y + (hit.y + 8) * view.scale];
        }})()""")
        self.seen.press(x, y)
        self.drawn()

    def test_the_set_its_reason_and_the_node_that_demands_it(self) -> None:
        self.open(baked())
        self.assertIn("seq", self.text("#report"))
        self.assertIn("/net/second/Reshape", self.text("#report"))
        demands = self.seen.value("model.byName.get('/net/second/Reshape').demands.length")
        self.assertGreater(demands, 0)
        self.seen.value("[...document.querySelectorAll('#report .link')].find((l) => "
                        "l.innerText === '/net/second/Reshape').click()")  # fmt: skip
        self.assertIn("Demands", self.text("#choice"))

    def test_clicks_lead_from_a_node_to_a_value_and_its_chain(self) -> None:
        self.open(baked())
        self.press("hit.kind === 'node' && model.nodes[hit.ref].name === '/net/second/Reshape'")
        self.assertIn("Reads", self.text("#choice"))
        self.seen.value("[...document.querySelectorAll('#choice .link')].find((l) => l.innerText === 'c').click()")
        chain = self.text("#choice")
        self.assertIn("Axis 1 = 120", chain)
        self.assertIn("the target's literal 120", chain)
        self.assertIn("target entry 1 = 120", chain)

    def test_what_computes_sizes_is_found_but_not_drawn(self) -> None:
        self.open(baked())
        self.assertEqual(self.seen.value("model.byName.get('/net/Shape').level"), -1)
        self.seen.value("(() => { const f = document.querySelector('input'); f.value = 'shape'; "
                        "f.dispatchEvent(new Event('input')); })()")  # fmt: skip
        self.assertIn("/net/Shape", self.text("#choice"))

    def test_groups_close_and_open(self) -> None:
        self.open(baked())
        first = "hit.kind === 'group' && model.levels[hit.ref].title === 'first'"
        self.assertTrue(self.seen.value("hits.some((hit) => hit.kind === 'node' && hit.item.ref === 0)"))
        self.press(first)
        self.assertFalse(self.seen.value("hits.some((hit) => hit.kind === 'node' && hit.item.ref === 0)"))
        self.press(first)
        self.assertTrue(self.seen.value("hits.some((hit) => hit.kind === 'node' && hit.item.ref === 0)"))

    def test_dark_light_and_paper(self) -> None:
        self.open(baked())
        before = self.seen.value("style.back")
        self.seen.value("[...document.querySelectorAll('button')].find((b) => b.innerText === 'Dark or light').click()")
        self.assertNotEqual(self.seen.value("style.back"), before)
        for _ in range(2):
            drawn, said = self.seen.value("[style.symbols[0], getComputedStyle(document.querySelector("
                                          "'#report .dims span')).color]")  # fmt: skip
            self.assertEqual(self.seen.value(f"(() => {{ pen.fillStyle = '{drawn}'; return pen.fillStyle; }})()"),
                             "#" + "".join(f"{int(one):02x}" for one in said[4:-1].split(",")))
            self.seen.value("wear(isDark() ? 'light' : 'dark')")
            self.drawn()
        self.assertGreater(len(self.seen.ask("Page.printToPDF")["data"]), 10000)

    def test_nothing_breaks_out_of_a_name(self) -> None:
        self.open(hostile())
        self.assertIsNone(self.seen.value("window.broken"))
        self.assertEqual(self.seen.value("document.images.length"), 0)
        said = self.text("body")
        self.assertNotIn("\u202e", said)
        self.assertIn("\\u{202e}", said)
        self.assertEqual(self.seen.value("report.inputs[0].name"), HOSTILE)

    def test_the_page_asks_for_nothing(self) -> None:
        self.open(baked())
        asked = {told["request"]["url"] for told in self.seen.happened("Network.requestWillBeSent")}
        self.assertEqual({url for url in asked if not url.startswith(("file:", "about:"))}, set())

    def test_the_memory_and_the_time_of_a_plan(self) -> None:
        sizes, trace = ("--shape", "x=30x12x4"), self.home / "trace.json"
        onnx.save(baked(), self.home / "model.onnx")
        self.tell("run", self.home / "model.onnx", "--random", "x=30x12x4", "--profile", trace)
        self.open(baked(), "plan", *sizes, "--profile", trace)
        steps = self.seen.value("plan.steps.length")
        self.assertEqual(self.seen.value("document.querySelectorAll('svg').length"), 2)
        self.assertEqual(self.seen.value("document.querySelectorAll('.bar').length"), 2 * steps)
        self.assertTrue(self.seen.value("live.every((one) => one <= plan.peak)"))
        self.assertTrue(self.seen.value("times.some((one) => one > 0)"))
        self.seen.value("document.querySelector('.catch').dispatchEvent(new Event('click'))")
        self.assertIn("Step 0", self.text("#choice"))
        self.assertEqual(self.seen.value("document.querySelectorAll('.bar.chosen').length"), 2)
        self.seen.value("document.querySelector('main').focus()")
        self.seen.key("ArrowRight", 39)
        self.assertIn("Step 1", self.text("#choice"))

    def test_keys_move_and_zoom_and_the_search_is_chosen_from(self) -> None:
        self.open(baked())
        self.seen.value("canvas.focus()")
        before = self.seen.value("[view.x, view.y, view.scale]")
        for name, code in ("ArrowRight", 39), ("ArrowDown", 40), ("+", 187):
            self.seen.key(name, code)
        x, y, scale = self.seen.value("[view.x, view.y, view.scale]")
        self.assertLess(y, before[1])
        self.assertNotEqual(x, before[0])
        self.assertGreater(scale, before[2])
        self.seen.key("/", 191)
        self.assertEqual(self.seen.value("document.activeElement.type"), "search")
        self.seen.value("(() => { const f = document.activeElement; f.value = 'reshape'; "
                        "f.dispatchEvent(new Event('input')); })()")  # fmt: skip
        self.seen.key("Enter", 13)
        self.assertIn("Demands", self.text("#choice"))
        self.seen.key("Escape", 27)
        self.assertEqual(self.text("#choice"), "")

    def test_entries_attributes_and_rows_are_told(self) -> None:
        self.open(baked())
        self.seen.value("choose('node', model.byName.get('/net/second/Reshape').id)")
        self.assertIn("[-1, 120, 4]", self.text("#choice"))
        self.assertIn("Along seq: not proved", self.text("#report"))
        nodes = [helper.make_node("Transpose", ["x"], ["y"], name="/turn", perm=[1, 0])]
        self.open(model(nodes, {"x": ["batch", 4]}, ["y"], {}))
        self.assertIn("Along batch: independent, proved", self.text("#report"))
        self.seen.value("choose('node', 0)")
        self.assertIn("perm = [1, 0]", self.text("#choice"))

    def test_long_chains_are_folded(self) -> None:
        nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"/r{i}") for i in range(20)]
        self.open(model(nodes, {"v0": ["batch", 4]}, ["v20"], {}))
        shown = "[...document.querySelectorAll('#choice details')].map((one) => one.open)"
        for value, state in ("v3", True), ("v20", False):
            self.seen.value(f"choose('value', model.values.find((one) => one.name === '{value}').id)")
            self.assertEqual(self.seen.value(shown), [state, state])
        self.seen.value("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.seen.value(shown), [True, True])
        self.seen.value("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.seen.value(shown), [False, False])

    def test_branches_have_the_names_of_their_attributes(self) -> None:
        sides = [helper.make_graph([helper.make_node(op, ["x"], [op])], "g", [],
                                   [helper.make_tensor_value_info(op, TensorProto.FLOAT, None)])
                 for op in ("Relu", "Neg")]  # fmt: skip
        made = model([helper.make_node("Cast", ["c"], ["test"], to=TensorProto.BOOL),
                      helper.make_node("If", ["test"], ["y"], name="/if", then_branch=sides[0], else_branch=sides[1])],
                     {"x": ["batch"], "c": []}, ["y"], {})  # fmt: skip
        self.open(made)
        titles = set(self.seen.value("model.levels.map((one) => one.title)"))
        self.assertTrue({"then_branch", "else_branch"} <= titles, titles)
        self.seen.value("openAll()")
        self.drawn()
        for op in "Relu", "Neg":
            self.assertTrue(self.seen.value(f"hits.some((hit) => hit.kind === 'node' && "
                                            f"model.nodes[hit.ref].op === '{op}')"))  # fmt: skip

    def test_a_wide_model_begins_with_its_input(self) -> None:
        nodes = [helper.make_node("Relu", ["x"], [f"v{i}"], name=f"/r{i}") for i in range(300)]
        nodes.append(helper.make_node("Sum", [f"v{i}" for i in range(300)], ["y"], name="/sum"))
        self.open(model(nodes, {"x": ["batch", 4]}, ["y"], {}))
        self.assertTrue(self.seen.value("hits.some((hit) => hit.kind === 'value' && hit.ref === 0)"))

    def test_a_file_that_cannot_be_read(self) -> None:
        (self.home / "model.onnx").write_bytes(b"\x08\x07\x3a\xff")
        done = subprocess.run([ANYSHAPE, "check", self.home / "model.onnx", "--format", "html", "-o",
                               self.home / "page.html"], capture_output=True)  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.seen.events.clear()
        self.seen.open((self.home / "page.html").as_uri())
        self.assertEqual(self.seen.happened("Runtime.exceptionThrown"), [])
        said = self.text("body")
        self.assertIn("onnx.truncated", said)
        self.assertNotIn("Exact", said)
        self.assertNotIn("nodes", said)

    def test_many_nodes(self) -> None:
        nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"/block.{i // 100}/Relu_{i}")
                 for i in range(8000)]  # fmt: skip
        self.open(model(nodes, {"v0": ["batch", 4]}, ["v8000"], {}))
        self.assertEqual(self.seen.value("model.levels[model.top].items.length"), 82)
        self.seen.value("choose('node', 7999)")
        self.drawn()
        self.assertTrue(self.seen.value("hits.some((hit) => hit.kind === 'node' && hit.ref === 7999)"))


def main() -> int:
    program = browser.find()
    if not program:
        print("no Chromium: tools/install_deps.sh test installs one; or set ANYSHAPE_CHROMIUM")
        return 1
    with tempfile.TemporaryDirectory() as home:
        Page.home, Page.seen = Path(home), browser.Browser(program)
        try:
            tests = unittest.defaultTestLoader.loadTestsFromTestCase(Page)
            return 0 if unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful() else 1
        finally:
            Page.seen.close()


if __name__ == "__main__":
    sys.exit(main())
