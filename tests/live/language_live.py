#!/usr/bin/env python3
"""language_live.py: causal and encoder-decoder language models with their caches, exported as they are; greedy generation
through the files gives the tokens that eager generation gives.

Environment: ANYSHAPE (the program; the package is beside it in the build tree), ANYSHAPE_SEED.
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
sys.path.insert(0, str(Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"))

import anyshape  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
import transformers as hf  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("ANYSHAPE_SEED", "1"))
TEXT = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
LLAMA = TEXT | {"num_key_value_heads": 1, "head_dim": 8}
GPT2 = {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "bos_token_id": 1, "eos_token_id": 2}
BART = {"vocab_size": 50, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}  # fmt: skip
T5 = {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "pad_token_id": 0,
      "eos_token_id": 2, "decoder_start_token_id": 0}  # fmt: skip
IDS = {0: "batch", 1: "seq"}
PAST = {0: "batch", 2: "past"}


def made(model, config):
    torch.manual_seed(SEED)
    model = model(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, 0.0, 0.3)
    return model


def ids(batch, seq):
    return torch.randint(3, 50, (batch, seq))


class File:
    """An exported model in both engines, which agree."""

    def __init__(self, model, args, folder, **options):
        path = Path(folder) / f"{len(os.listdir(folder))}.onnx"
        self.report = anyshape.export(model, args, path, **options)
        self.ours, self.theirs = anyshape.InferenceSession(path), onnxruntime.InferenceSession(path)
        self.inputs = [arg.name for arg in self.ours.get_inputs()]
        self.outputs = [arg.name for arg in self.ours.get_outputs()]

    def __call__(self, feed):
        feed = {name: feed[name] for name in self.inputs}
        got, want = (session.run(None, feed) for session in (self.ours, self.theirs))
        for name, one, other in zip(self.outputs, got, want):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4, err_msg=name)
        return dict(zip(self.outputs, got))


def with_past(made, before):
    """Outputs of a step as inputs of the next; what a step does not give stays as it was."""
    past = {name.replace("present", "past_key_values", 1): value for name, value in made.items() if name != "logits"}
    return {name: value for name, value in before.items() if name.startswith("past")} | past


def eager_tokens(model, **inputs):
    with torch.no_grad():
        made = model.generate(**inputs, max_new_tokens=20, min_new_tokens=20, do_sample=False, num_beams=1)
    return made.numpy()


class Causal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def generate(self, model, batch, length):
        """By a file for the prompt and one for a step with the cache."""
        prompt, cache = ids(2, 5), model(ids(2, 4)).past_key_values
        first = File(model, (prompt,), self.folder, dynamic_axes={"input_ids": IDS})
        names = [f"{i}.{entry}" for i in range(2) for entry in ("key", "value")]
        self.assertEqual(first.outputs, ["logits", *(f"present.{name}" for name in names)])
        self.assertTrue(first.report.check().accepts(input_ids=(1, 1)))
        step = File(model, (), self.folder, kwargs={"input_ids": ids(2, 3), "past_key_values": cache},
                    dynamic_axes={"input_ids": IDS, "past_key_values": PAST})  # fmt: skip
        self.assertEqual(step.inputs, ["input_ids", *(f"past_key_values.{name}" for name in names)])
        self.assertEqual(step.report.refused, [])
        tokens = ids(batch, length)
        # Without end tokens: both go on to the same length.
        want = eager_tokens(model, input_ids=tokens, attention_mask=torch.ones_like(tokens), eos_token_id=None)
        tokens = tokens.numpy()
        given = first({"input_ids": tokens})
        feed = {}
        for _ in range(20):
            token = given["logits"][:, -1].argmax(-1)[:, None]
            tokens = np.concatenate([tokens, token], 1)
            feed = with_past(given, feed) | {"input_ids": token}
            given = step(feed)
        np.testing.assert_array_equal(tokens, want)

    def test_gpt2(self):
        self.generate(made(hf.GPT2LMHeadModel, hf.GPT2Config(**GPT2)), 3, 7)

    def test_llama(self):
        self.generate(made(hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA)), 1, 11)

    def test_mask_as_long_as_past_and_new_tokens(self):
        model = made(hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA))
        cache = model(ids(2, 4)).past_key_values
        mask = torch.ones(2, 7, dtype=torch.int64)
        mask[1, :2] = 0
        step = File(model, (), self.folder,
                    kwargs={"input_ids": ids(2, 3), "attention_mask": mask, "past_key_values": cache},
                    dynamic_axes={"input_ids": IDS, "attention_mask": {0: "batch", 1: "past + seq"},
                                  "past_key_values.*": PAST})  # fmt: skip
        self.assertEqual(step.inputs[:2], ["input_ids", "attention_mask"])
        self.assertGreater(len(step.report.compared), 4)
        self.assertEqual(step.report.refused, [])


class Pair(Causal):
    """Encoder and decoder."""

    def generate(self, model, batch, length):
        source, target = ids(2, 6), ids(2, 4)
        with torch.no_grad():
            before = model(input_ids=source, decoder_input_ids=target)
        first = File(model, (), self.folder, kwargs={"input_ids": source, "decoder_input_ids": target},
                     dynamic_axes={"input_ids": {0: "batch", 1: "rows"}, "decoder_input_ids": {0: "batch", 1: "seq"}})  # fmt: skip
        entries = [f"{side}.{entry}" for side in ("decoder", "encoder") for entry in ("key", "value")]
        names = {f"present.{i}.{entry}" for i in range(2) for entry in entries}
        self.assertLessEqual(names | {"logits", "encoder_last_hidden_state"}, set(first.outputs))
        encoded = (before.encoder_last_hidden_state,)
        step = File(model, (), self.folder,
                    kwargs={"decoder_input_ids": ids(2, 3), "encoder_outputs": encoded,
                            "past_key_values": before.past_key_values},
                    dynamic_axes={"decoder_input_ids": IDS, "encoder_outputs_0": {0: "batch", 1: "rows"},
                                  "past_key_values.*.decoder.*": PAST,
                                  "past_key_values.*.encoder.*": {0: "batch", 2: "rows"}})  # fmt: skip
        source = ids(batch, length)
        want = eager_tokens(model, input_ids=source, attention_mask=torch.ones_like(source), eos_token_id=None,
                            forced_eos_token_id=None)  # fmt: skip
        tokens = want[:, :1]
        given = first({"input_ids": source.numpy(), "decoder_input_ids": tokens})
        feed = {"encoder_outputs_0": given["encoder_last_hidden_state"]}
        for _ in range(20):
            token = given["logits"][:, -1].argmax(-1)[:, None]
            tokens = np.concatenate([tokens, token], 1)
            feed |= with_past(given, feed) | {"decoder_input_ids": token}
            given = step(feed)
        np.testing.assert_array_equal(tokens, want)

    test_gpt2 = test_llama = test_mask_as_long_as_past_and_new_tokens = None

    def test_t5(self):
        self.generate(made(hf.T5ForConditionalGeneration, hf.T5Config(**T5)), 2, 9)

    def test_bart(self):
        self.generate(made(hf.BartForConditionalGeneration, hf.BartConfig(**BART)), 3, 5)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun} language models, {failed} failed, transformers {hf.__version__}, torch {torch.__version__}")
    sys.exit(1 if failed else 0)
