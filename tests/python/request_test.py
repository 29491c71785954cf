"""What a user asks of an export, without a compiled model: names of structured arguments, expressions, drawn inputs."""

import unittest
from types import SimpleNamespace

from anyshape import _expression

try:
    import torch
    from anyshape import Error, _compare, _narrowed, _request, _sample, _structure
except ModuleNotFoundError:
    torch = None


class ExpressionTest(unittest.TestCase):
    def test_names_of_axes(self):
        rows = [
            ("past + seq", ["past", "seq"], {"past": 4, "seq": 3}, 7),
            ("past + 1", ["past", "seq"], {"past": 4, "seq": 3}, 5),
            ("2*n - 1", ["n"], {"n": 4}, 7),
            ("x.0 + n", ["n", "x.0"], {"n": 4, "x.0": 1}, 5),
            ("batch", ["batch", "seq"], {}, None),
            ("batch-size", ["seq"], {}, None),
            ("past + more", ["past"], {}, None),
            ("past.__class__", ["past"], {}, None),
        ]
        for text, names, sizes, want in rows:
            made = _expression.sum_of(text, names)
            self.assertEqual(made and made.value(sizes), want, text)


@unittest.skipIf(torch is None, "needs torch")
class StructureTest(unittest.TestCase):
    def cache(self, layers, length=3):
        states = [SimpleNamespace(keys=torch.ones(2, 1, length, 4), values=torch.ones(2, 1, length, 4),
                                  cumulative_length=length, _scale=torch.ones(1)) for _ in range(layers)]  # fmt: skip
        return SimpleNamespace(layers=states, offloading=False)

    def names(self, root, value):
        return [name for name, _ in _structure.named_tensors(root, value)]

    def test_names(self):
        one = torch.ones(1)
        pair = SimpleNamespace(self_attention_cache=self.cache(1), cross_attention_cache=self.cache(1))
        legacy = ((one, one), (one, one))
        rows = [
            ("x", one, ["x"]),
            ("pair", (one, {"b": one}), ["pair_0", "pair_1_b"]),
            ("past_key_values", self.cache(2), [f"past_key_values.{i}.{e}" for i in (0, 1) for e in ("key", "value")]),
            ("past_key_values", pair, [f"past_key_values.0.{s}.{e}" for s in ("decoder", "encoder") for e in ("key", "value")]),
            ("past_key_values", legacy, [f"past_key_values.{i}.{e}" for i in (0, 1) for e in ("key", "value")]),
            ("past_key_values", (legacy[0] * 2,), [f"past_key_values.0.{s}.{e}" for s in ("decoder", "encoder") for e in ("key", "value")]),
        ]  # fmt: skip
        for root, value, want in rows:
            self.assertEqual(self.names(root, value), want)

    def test_a_dict_at_the_end(self):
        class Takes(torch.nn.Module):
            def forward(self, x, batch=None):
                return x

        def split(*args):
            return _request.split_arguments(Takes(), args, None)

        one = torch.ones(1)
        self.assertEqual(split(one, {"batch": one}), ((one,), {"batch": one}))
        self.assertEqual(split({"x": one}), ((), {"x": one}))
        self.assertEqual(split({"a": one}), (({"a": one},), {}))
        self.assertEqual(split(one, {"a": one}), ((one, {"a": one}), {}))
        self.assertEqual(split(one, one, one, {"a": one}), ((one, one, one), {"a": one}))

    def test_results(self):
        made = {"logits": torch.ones(1), "past_key_values": self.cache(1), "x": torch.ones(1), "none": None}
        names = [name for name, _ in _structure.named_results(made, ["x"])]
        self.assertEqual(names, ["logits", "present.0.key", "present.0.value", "next_x"])

    def test_types_that_are_registered_without_names(self):
        from torch.utils import _pytree as pytree

        class Output(dict):
            pass

        class Two:
            def __init__(self, parts):
                self.parts = parts

        pytree.register_pytree_node(Output, lambda one: (list(one.values()), list(one)), lambda parts, keys: Output(zip(keys, parts)))
        pytree.register_pytree_node(Two, lambda one: (one.parts, None), lambda parts, _: Two(list(parts)))
        value = Output(logits=torch.ones(1), two=Two([torch.ones(1), torch.ones(2)]))
        self.assertEqual(self.names("y", value), ["y_logits", "y_two_0", "y_two_1"])
        made = _structure.mapped(value, lambda _path, tensor: tensor + 1)
        self.assertEqual((type(made), made["two"].parts[1].tolist()), (Output, [2, 2]))

    def test_copies_follow_the_sizes(self):
        before = self.cache(1)
        after = _structure.mapped(before, lambda _path, tensor: tensor.new_zeros(2, 1, 8, 4))
        self.assertEqual((after.layers[0].cumulative_length, after.layers[0].keys.shape[2]), (8, 8))
        self.assertEqual((before.layers[0].cumulative_length, before.layers[0].keys.shape[2]), (3, 3))
        self.assertIs(after.layers[0]._scale, before.layers[0]._scale)

    def test_module_in_between(self):
        class Model(torch.nn.Module):
            def forward(self, x, state):
                return {"y": x + state.total, "state": SimpleNamespace(total=state.total + 1)}

        model, x, state = Model(), torch.ones(2), SimpleNamespace(total=torch.zeros(2))
        request = _request.make_request(model, (x, state), None, None, None, {"x": [0], "state": [0]}, None)
        self.assertEqual((request.names, request.structured), (["x", "state.total"], True))
        with _request.as_captured(model, request) as asked:
            y, total = model(*asked.args)
        self.assertEqual((y.tolist(), total.tolist()), ([1, 1], [1, 1]))
        self.assertEqual(model(x, state)["y"].tolist(), [1, 1])


@unittest.skipIf(torch is None, "needs torch")
class AxesTest(unittest.TestCase):
    def request(self, axes):
        model = SimpleNamespace(forward=lambda x, mask: x)
        return _request.make_request(model, (torch.ones(2, 7), torch.ones(2, 9)), None, None, None, axes, None)

    def test_expression(self):
        request = self.request({"x": {0: "b", 1: "n"}, "mask": {0: "b", 1: "n + 2"}})
        self.assertEqual(request.example(), {"b": 2, "n": 7})
        self.assertEqual(request.shapes({"b": 1, "n": 3}), {"x": [1, 3], "mask": [1, 5]})

    def test_wrong_expression(self):
        with self.assertRaises(Error) as caught:
            self.request({"x": {1: "n"}, "mask": {1: "n + 1"}})
        self.assertEqual(caught.exception.code, "dynamic.tied")


@unittest.skipIf(torch is None, "needs torch")
class SampleTest(unittest.TestCase):
    SIZES = [(1, 1, 1), (2, 4, 2), (5, 15, 6), (3, 7, 3)]

    def drawn(self, example, axes, manner=0):
        """The input beside one of [batch, seq], at several sizes."""
        model = SimpleNamespace(forward=lambda x, other: x)
        request = _request.make_request(model, (torch.ones(3, 7), torch.tensor(example)), None, None, None,
                                        {"x": {0: "b", 1: "s"}, "other": axes}, None)  # fmt: skip
        sampler = _sample.Sampler(request)
        for b, s, k in self.SIZES:
            sizes = {"b": b, "s": s, "k": k}
            for seed in (1, 2):
                yield b, s, sampler.draw({n: sizes[n] for n in request.example()}, seed, manner)[1]

    def test_lengths_stay_within_the_axis(self):
        for _, s, lengths in self.drawn([3, 7, 5], {0: "b"}):
            self.assertTrue(bool((lengths >= 1).all()) and int(lengths.max()) == s, lengths)

    def test_sorted_lengths_stay_sorted(self):
        for _, _, lengths in self.drawn([7, 5, 3], {0: "b"}):
            self.assertEqual(lengths.tolist(), sorted(lengths.tolist(), reverse=True))

    def test_offsets_begin_with_nothing_and_ascend(self):
        for _, s, offsets in self.drawn([0, 2, 5, 7], {0: "k"}):
            self.assertEqual(int(offsets[0]) if len(offsets) > 1 else 0, 0)
            self.assertEqual(offsets.tolist(), sorted(offsets.tolist()))
            self.assertLessEqual(int(offsets.max()), s)

    def test_masks_have_an_entry_in_every_row(self):
        for _, _, mask in self.drawn([[True] * 7, [True] * 3 + [False] * 4, [True] + [False] * 6], {0: "b", 1: "s"}):
            self.assertTrue(bool(mask.any(1).all()))
            self.assertTrue(bool((mask[:, 1:] <= mask[:, :-1]).all()))

    def test_indices_stay_below_what_the_example_has(self):
        for manner in range(3):
            for _, _, ids in self.drawn([[3, 49, 8, 11, 4, 20, 3]] * 3, {0: "b", 1: "s"}, manner):
                self.assertTrue(3 <= int(ids.min()) and int(ids.max()) <= 49)

    def test_indices_of_an_axis_stay_below_it(self):
        for _, s, edges in self.drawn([[0, 6, 2], [5, 1, 1]], {1: "k"}):
            self.assertTrue(0 <= int(edges.min()) and int(edges.max()) < s)

    def test_positions_stay_positions(self):
        for _, s, positions in self.drawn([[0, 1, 2, 3, 4, 5, 6]], {1: "s"}):
            self.assertEqual(positions.tolist(), [list(range(s))])

    def test_what_the_caller_gives(self):
        model = SimpleNamespace(forward=lambda x, y: x)
        request = _request.make_request(model, (torch.ones(3), torch.ones(3)), None, None, None, {"x": {0: "n"}}, None)
        sampler = _sample.Sampler(request, lambda sizes: {"x": torch.full((sizes["n"],), 7.0)})
        self.assertEqual(sampler.draw({"n": 2}, 1)[0].tolist(), [7, 7])
        for wrong in {"z": torch.ones(2)}, {"x": torch.ones(3)}:
            with self.assertRaises(Error) as caught:
                _sample.Sampler(request, lambda _sizes, wrong=wrong: wrong).draw({"n": 2}, 1)
            self.assertEqual(caught.exception.code, "sampler.input")


@unittest.skipIf(torch is None, "needs torch")
class ForgottenTest(unittest.TestCase):
    def told(self, forward, shapes, axes):
        model = torch.nn.Module()
        model.forward = forward
        request = _request.make_request(model, tuple(torch.ones(shape) for shape in shapes), None, None, None, axes, None)
        return _narrowed.forgotten(request, _compare.LiveModel(model, request), list(request.example()))

    def test_an_input_is_named(self):
        told = self.told(lambda a, b: a + b, [(2, 4), (2, 4)], {"a": {0: "batch"}})
        self.assertEqual(told, {"batch": 'axis 0 of "b" is 2 and pins batch: add "b": {0: "batch"}'})

    def test_only_what_pins(self):
        forward = lambda a, b, c, d: (a + b, c * 2, torch.cat([a, d], 1))  # noqa: E731
        told = self.told(forward, [(3, 3), (3, 3), (3, 3), (3, 1)], {"a": {0: "batch"}})
        self.assertEqual(told["batch"].split("; "), [f'axis 0 of "{name}" is 3 and pins batch: add "{name}": {{0: "batch"}}'
                                                     for name in ("b", "d")])  # fmt: skip

    def test_nothing_is_forgotten(self):
        rows = [
            (lambda a, b: a + b, [(2, 4), (1, 4)]),  # broadcasts
            (lambda a, b: (a * 2, b), [(2, 4), (2, 4)]),  # of no concern
            (lambda a, b: (a.reshape(2, -1) * 2, b), [(2, 3), (2, 3)]),  # pinned by the model itself
        ]
        for forward, shapes in rows:
            self.assertEqual(self.told(forward, shapes, {"a": {0: "batch"}}), {})

    def test_what_the_request_says_is_no_news(self):
        model = SimpleNamespace(forward=lambda a, b: a)
        axes = {"a": {0: "n"}, "b": {0: "n + 1"}}
        request = _request.make_request(model, (torch.ones(2), torch.ones(3)), None, None, None, axes, None)
        one = {"input": "a", "axis": 0, "name": "n", "condition": "n <= 8", "symbols": ["n"], "node": "/guard/Gather",
               "text": "t", "advice": "a"}  # fmt: skip
        rows = [(one, False, 1), (one, True, 0), (one | {"node": "/x"}, True, 1), (one | {"symbols": ["n", "n + 1"]}, False, 0)]
        for told, ranges, count in rows:
            self.assertEqual(len(_narrowed.narrowed([told], request, None, ranges)), count, told)


if __name__ == "__main__":
    unittest.main()
