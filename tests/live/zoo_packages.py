"""Models out of timm, torchvision and torchaudio, as these packages make them, with random weights.

The packages lie in build/zoo. Their compiled parts need the PyTorch they were built with and are not used: torchvision's
operators are declared, so that its Python loads, and torchaudio is told that it has none.
"""

import sys
import types
from pathlib import Path

import torch
from make_torch_case import case, ints, rand

sys.path.append(str(Path(__file__).resolve().parents[2] / "build" / "zoo"))
for declared in ("nms", "qnms"):
    torch.library.define(f"torchvision::{declared}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
extension = types.ModuleType("torchaudio._extension")
extension._IS_TORCHAUDIO_EXT_AVAILABLE = extension._IS_ALIGN_AVAILABLE = False
extension.fail_if_no_align = lambda function: function
sys.modules[extension.__name__] = extension

import timm  # noqa: E402
import torchaudio.models as audio  # noqa: E402
import torchvision.models as vision  # noqa: E402

IMAGE = "batch=2 h=64 w=96; batch=1 h=64 w=64; batch=3 h=96 w=32; batch=1 h=100 w=75"
PATCHES = "batch=2 h=64 w=96; batch=1 h=64 w=64; batch=3 h=96 w=32; batch=1 h=128 w=96"
HALVES = "batch=2 h=64 w=96; batch=1 h=64 w=64; batch=3 h=96 w=64; batch=1 h=128 w=96"
FOURTEENS = "batch=2 h=56 w=84; batch=1 h=56 w=56; batch=3 h=84 w=28; batch=1 h=112 w=84"
CLOSE = {"rtol": 1e-3, "atol": 1e-4, "files": ("pt2", "traced")}


def lively(model):
    """Statistics and scales other than those of a new layer, values that neither vanish nor explode."""
    for part in model.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    for name, weight in model.named_parameters():
        if weight.dim() == 1 and "gamma" in name:
            weight.data.uniform_(0.1, 0.5)
    return model


def images(name, make, sizes=IMAGE):
    case(name, lambda: lively(make()), lambda batch, h, w: {"x": rand(batch, 3, h, w)}, "x:0=batch,2=h,3=w", sizes, **CLOSE)


def timm_net(name, sizes=IMAGE, **options):
    images("timm_" + name, lambda: timm.create_model(name, num_classes=7, **options), sizes)


def timm_fixed(name, side=64, **options):
    """One whose layers are made for one size of the image."""
    case("timm_" + name, lambda: lively(timm.create_model(name, num_classes=7, **options)),
         lambda batch: {"x": rand(batch, 3, side, side)}, "x:0=batch", "batch=2; batch=1; batch=3; batch=5", **CLOSE)


def vision_net(name, sizes=IMAGE, **options):
    images("tv_" + name, lambda: getattr(vision, name)(weights=None, num_classes=7, **options), sizes)


for net in ("convnext_atto", "convnextv2_atto", "cspdarknet53", "darknet17", "densenet121", "dpn48b", "ecaresnet26t",
            "edgenext_xx_small", "efficientnet_lite0", "efficientvit_b0", "ese_vovnet19b_dw", "fasternet_t0", "fbnetc_100", "focalnet_tiny_srf",
            "gernet_s", "ghostnet_050", "hardcorenas_a", "inception_next_atto", "lcnet_050", "legacy_seresnet18", "mambaout_femto",
            "mnasnet_small", "mobilenetv3_small_050", "mobilenetv4_conv_small_035", "mobileone_s0",
            "nf_regnet_b0", "poolformer_s12", "pvt_v2_b0", "regnetx_002", "regnety_002", "repghostnet_050",
            "repvgg_a0", "repvit_m0_9", "res2net50d", "resnest14d", "resnet10t", "rexnet_100", "selecsls42",
            "seresnext26d_32x4d", "shvit_s1", "skresnet18", "starnet_s1", "tf_efficientnet_b0", "tinynet_e", "xception41"):
    timm_net(net)
timm_net("dla34", HALVES)
timm_net("ghostnetv2_100", HALVES)
timm_net("hrnet_w18_small", HALVES)
timm_net("davit_tiny", PATCHES, depths=(1, 1, 1, 1), embed_dims=(16, 32, 64, 128), num_heads=(1, 2, 4, 8))
timm_net("deit_tiny_patch16_224", PATCHES, img_size=64, dynamic_img_size=True, depth=2)
timm_net("eva02_tiny_patch14_224", FOURTEENS, img_size=56, dynamic_img_size=True, depth=2)
timm_net("vit_small_patch14_reg4_dinov2", FOURTEENS, img_size=56, dynamic_img_size=True, depth=2)
timm_net("vit_tiny_patch16_224", PATCHES, img_size=64, dynamic_img_size=True, depth=2)
timm_net("xcit_nano_12_p16_224", PATCHES, depth=2)
for net in ("botnet26t_256", "cait_xxs24_224", "coat_lite_tiny", "coatnet_pico_rw_224", "convit_tiny", "gcvit_xxtiny",
            "gmixer_12_224", "gmlp_ti16_224", "maxvit_rmlp_pico_rw_256", "mixer_s32_224", "nest_tiny", "pit_ti_224",
            "resmlp_12_224", "swin_tiny_patch4_window7_224", "swinv2_tiny_window8_256", "twins_svt_small", "visformer_tiny"):
    timm_fixed(net, img_size=64)
for net in ("fastvit_t8", "lambda_resnet26t"):
    timm_fixed(net)
timm_fixed("levit_128s", 224)
timm_fixed("tiny_vit_5m_224", 224)

for net in ("convnext_tiny", "densenet121", "efficientnet_b0", "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small",
            "regnet_y_400mf", "resnet18", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_1"):
    vision_net(net)
vision_net("alexnet", HALVES)
vision_net("googlenet", aux_logits=False, init_weights=False)
vision_net("inception_v3", "batch=2 h=96 w=128; batch=1 h=96 w=96; batch=3 h=128 w=96; batch=1 h=100 w=115",
           aux_logits=False, init_weights=False)


class Part(torch.nn.Module):
    """One of the results of a model, which has others for training."""

    def __init__(self, model, key):
        super().__init__()
        self.model, self.key = model, key

    def forward(self, x):
        return self.model(x)[self.key]


def segmentation(name):
    make = getattr(vision.segmentation, name)
    images("tv_" + name, lambda: Part(make(weights=None, weights_backbone=None, num_classes=5), "out"))


segmentation("lraspp_mobilenet_v3_large")
segmentation("deeplabv3_mobilenet_v3_large")
case("tv_r3d", lambda: lively(vision.video.r3d_18(weights=None, num_classes=5)),
     lambda batch, t, h: {"x": rand(batch, 3, t, h, 32)}, "x:0=batch,2=t,3=h",
     "batch=2 t=8 h=32; batch=1 t=8 h=32; batch=3 t=5 h=48; batch=1 t=12 h=32", **CLOSE)


def lengths(batch, seq):
    """At least one row is as long as the axis."""
    return torch.cat([torch.tensor([seq]), ints(seq + 1, batch - 1, low=1)])


FRAMES = "batch=2 seq=20; batch=1 seq=20; batch=3 seq=9; batch=2 seq=33"
case("ta_conformer", lambda: audio.Conformer(16, 4, 32, 2, 7),
     lambda batch, seq: {"x": rand(batch, seq, 16), "lengths": lengths(batch, seq)}, "x:0=batch,1=seq lengths:0=batch", FRAMES, **CLOSE)
case("ta_conv_tasnet", lambda: audio.ConvTasNet(2, 16, 16, 3, 8, 16, 3, 2), lambda batch, n: {"x": rand(batch, 1, n)},
     "x:0=batch,2=n", "batch=2 n=400; batch=1 n=400; batch=3 n=240; batch=1 n=513", **CLOSE)
case("ta_deepspeech", lambda: audio.DeepSpeech(16, 24, 7), lambda batch, seq: {"x": rand(batch, 1, seq, 16)}, "x:0=batch,2=seq",
     FRAMES, **CLOSE)
case("ta_emformer", lambda: audio.Emformer(16, 4, 32, 2, 4, right_context_length=1),
     lambda batch: {"x": rand(batch, 13, 16), "lengths": torch.full((batch,), 12)}, "x:0=batch lengths:0=batch",
     "batch=2; batch=1; batch=3; batch=5", **CLOSE)
case("ta_wav2letter", lambda: audio.Wav2Letter(7, "mfcc", 13), lambda batch, seq: {"x": rand(batch, 13, seq)}, "x:0=batch,2=seq",
     "batch=2 seq=60; batch=1 seq=60; batch=3 seq=49; batch=2 seq=83", **CLOSE)
case("ta_wav2vec2",
     lambda: Part(audio.wav2vec2_model("group_norm", [(16, 10, 5), (16, 3, 2), (16, 2, 2)], False, 24, 0.0, 16, 4, 2, 4, 0.0, 32,
                                       0.0, 0.0, False, 0.0, 9), 0),
     lambda batch, n: {"x": rand(batch, n)}, "x:0=batch,1=n", "batch=2 n=800; batch=1 n=800; batch=3 n=640; batch=1 n=1203", **CLOSE)
