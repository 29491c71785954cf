"""Tiny random models of Hugging Face transformers: text, vision, sound, time series. Made from configurations, offline."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers as hf
from make_torch_case import case, ints, rand
from torch import nn

SEQ = "batch=2 seq=9; batch=1 seq=9; batch=3 seq=4; batch=2 seq=17; batch=1 seq=3"
TEXT = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
CAUSAL = TEXT | {"num_key_value_heads": 1, "use_cache": False, "head_dim": 8}
IMAGES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "image_size": 32,
          "patch_size": 8}


class Wrap(nn.Module):
    """The first output of a model."""

    def __init__(self, model, **options):
        super().__init__()
        self.model, self.options = model, options

    def first(self, **inputs):
        return self.model(**inputs, **self.options, return_dict=True).to_tuple()[0]


class Ids(Wrap):
    def forward(self, input_ids):
        return self.first(input_ids=input_ids)


class IdsMask(Wrap):
    def forward(self, input_ids, attention_mask):
        return self.first(input_ids=input_ids, attention_mask=attention_mask)


class Pair(Wrap):
    def forward(self, input_ids, decoder_input_ids):
        return self.first(input_ids=input_ids, decoder_input_ids=decoder_input_ids)


class Pixels(Wrap):
    def forward(self, pixel_values):
        return self.first(pixel_values=pixel_values)


class Values(Wrap):
    def forward(self, input_values):
        return self.first(input_values=input_values)


class Features(Wrap):
    def forward(self, input_features, decoder_input_ids):
        return self.first(input_features=input_features, decoder_input_ids=decoder_input_ids)


class Past(Wrap):
    def forward(self, past_values):
        return self.first(past_values=past_values)


class IdsPixels(Wrap):
    def forward(self, input_ids, pixel_values):
        return self.first(input_ids=input_ids, pixel_values=pixel_values)


def ids(batch, seq):
    return {"input_ids": ints(50, batch, seq, low=3)}


def ids_mask(batch, seq):
    lengths = torch.randint(1, seq + 1, (batch, 1))
    return ids(batch, seq) | {"attention_mask": (torch.arange(seq)[None] < lengths).long()}


def make(wrapper, model, config, options, **call):
    """The class and configuration are looked up when the model is made: a version without them fails alone."""
    def build():
        with torch.no_grad():
            made = getattr(hf, model)(getattr(hf, config)(**options))
            for name, weight in made.named_parameters():
                if weight.dim() > 1:
                    nn.init.normal_(weight, 0.0, 0.2)
        return wrapper(made, **call)

    return build


def text(name, model, config, options, **more):
    case("hf_" + name, make(IdsMask, model, config, options), ids_mask, "input_ids:0=batch,1=seq attention_mask:0=batch,1=seq",
         SEQ, rtol=1e-3, atol=1e-4, files=("pt2", "traced"), **more)


def causal(name, model, config, options):
    case("hf_" + name, make(Ids, model, config, options, use_cache=False), ids, "input_ids:0=batch,1=seq", SEQ, rtol=1e-3,
         atol=1e-4, files=("pt2", "traced"))


def seq2seq(name, model, config, options):
    case("hf_" + name, make(Pair, model, config, options, use_cache=False),
         lambda batch, rows, cols: {"input_ids": ints(50, batch, rows, low=3), "decoder_input_ids": ints(50, batch, cols, low=3)},
         "input_ids:0=batch,1=rows decoder_input_ids:0=batch,1=cols",
         "batch=2 rows=9 cols=5; batch=1 rows=9 cols=5; batch=3 rows=4 cols=7; batch=1 rows=3 cols=2", rtol=1e-3, atol=1e-4,
         files=("pt2", "traced"))


def vision(name, model, config, options, side=True, opset=0, **call):
    sizes = "batch=2 h=64 w=96; batch=1 h=64 w=64; batch=3 h=96 w=32; batch=1 h=32 w=32"
    inputs = (lambda batch, h, w: {"pixel_values": rand(batch, 3, h, w)})
    dynamic = "pixel_values:0=batch,2=h,3=w"
    if not side:
        sizes, dynamic = "batch=2; batch=1; batch=3; batch=5", "pixel_values:0=batch"
        inputs = (lambda batch: {"pixel_values": rand(batch, 3, 32, 32)})
    case("hf_" + name, make(Pixels, model, config, options, **call), inputs, dynamic, sizes, rtol=1e-3, atol=1e-4,
         files=("pt2", "traced"), opset=opset)


def sound(name, model, config, options):
    case("hf_" + name, make(Values, model, config, options), lambda batch, n: {"input_values": rand(batch, n)},
         "input_values:0=batch,1=n", "batch=2 n=800; batch=1 n=800; batch=3 n=640; batch=1 n=1203", rtol=1e-3, atol=1e-4,
         files=("pt2", "traced"))


text("bert", "BertModel", "BertConfig", TEXT)
text("bert_classifier", "BertForSequenceClassification", "BertConfig", TEXT)
text("roberta", "RobertaModel", "RobertaConfig", TEXT)
text("distilbert", "DistilBertModel", "DistilBertConfig",
     {"vocab_size": 50, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64})
text("albert", "AlbertModel", "AlbertConfig", TEXT | {"embedding_size": 8})
text("electra", "ElectraModel", "ElectraConfig", TEXT | {"embedding_size": 8})
text("deberta_v2", "DebertaV2Model", "DebertaV2Config",
     TEXT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
             "max_relative_positions": 16})
text("mpnet", "MPNetModel", "MPNetConfig", TEXT)
text("modernbert", "ModernBertModel", "ModernBertConfig", TEXT | {"cls_token_id": 1, "sep_token_id": 2, "local_attention": 8})
text("convbert", "ConvBertModel", "ConvBertConfig", TEXT | {"embedding_size": 16, "conv_kernel_size": 3, "head_ratio": 1})
text("squeezebert", "SqueezeBertModel", "SqueezeBertConfig",
     TEXT | {"embedding_size": 16, "q_groups": 2, "k_groups": 2, "v_groups": 2, "post_attention_groups": 1,
             "intermediate_groups": 2, "output_groups": 2})
text("deberta", "DebertaModel", "DebertaConfig",
     TEXT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
             "max_relative_positions": 16})
text("esm", "EsmModel", "EsmConfig", TEXT | {"mask_token_id": 4, "position_embedding_type": "rotary", "token_dropout": True})
text("roformer", "RoFormerModel", "RoFormerConfig", TEXT | {"embedding_size": 16, "rotary_value": False})
text("rembert", "RemBertModel", "RemBertConfig", TEXT | {"input_embedding_size": 8, "output_embedding_size": 8})
text("xlm", "XLMModel", "XLMConfig", {"vocab_size": 50, "emb_dim": 16, "n_layers": 2, "n_heads": 2, "max_position_embeddings": 64})
text("mobilebert", "MobileBertModel", "MobileBertConfig",
     TEXT | {"embedding_size": 8, "true_hidden_size": 16, "intra_bottleneck_size": 16, "use_bottleneck": False,
             "num_feedforward_networks": 2})
case("hf_fnet", make(Ids, "FNetModel", "FNetConfig", {k: v for k, v in TEXT.items() if k != "num_attention_heads"}), ids,
     "input_ids:0=batch,1=seq", SEQ, rtol=1e-3, atol=1e-3, files=("pt2", "traced"))
causal("gpt2", "GPT2LMHeadModel", "GPT2Config",
       {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "bos_token_id": 1, "eos_token_id": 2})
causal("gpt_neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", TEXT)
causal("opt", "OPTForCausalLM", "OPTConfig", {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "ffn_dim": 32,
                                              "num_attention_heads": 2, "max_position_embeddings": 64,
                                              "word_embed_proj_dim": 16, "pad_token_id": 1})
causal("bloom", "BloomForCausalLM", "BloomConfig", {"vocab_size": 50, "hidden_size": 16, "n_layer": 2, "n_head": 2})
causal("llama", "LlamaForCausalLM", "LlamaConfig", CAUSAL)
causal("mistral", "MistralForCausalLM", "MistralConfig", CAUSAL | {"sliding_window": 6})
causal("qwen2", "Qwen2ForCausalLM", "Qwen2Config", CAUSAL)
causal("qwen3", "Qwen3ForCausalLM", "Qwen3Config", CAUSAL)
causal("gemma2", "Gemma2ForCausalLM", "Gemma2Config", CAUSAL | {"sliding_window": 6})
causal("phi", "PhiForCausalLM", "PhiConfig", TEXT)
causal("falcon", "FalconForCausalLM", "FalconConfig", {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2,
                                                       "num_attention_heads": 2, "alibi": False})
causal("olmo2", "Olmo2ForCausalLM", "Olmo2Config", CAUSAL)
causal("phi3", "Phi3ForCausalLM", "Phi3Config", CAUSAL)
causal("mixtral", "MixtralForCausalLM", "MixtralConfig", CAUSAL | {"num_local_experts": 2, "num_experts_per_tok": 1})
causal("qwen3_moe", "Qwen3MoeForCausalLM", "Qwen3MoeConfig",
       CAUSAL | {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 16})
causal("gptj", "GPTJForCausalLM", "GPTJConfig", {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64,
                                                 "rotary_dim": 4, "bos_token_id": 1, "eos_token_id": 2})
causal("mamba2", "Mamba2ForCausalLM", "Mamba2Config",
       {"vocab_size": 50, "hidden_size": 8, "state_size": 4, "num_hidden_layers": 1, "num_heads": 2, "head_dim": 8, "expand": 2,
        "n_groups": 1, "chunk_size": 4})
seq2seq("t5", "T5Model", "T5Config", {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2,
                                      "decoder_start_token_id": 0})
BART = {"vocab_size": 50, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64}
seq2seq("bart", "BartModel", "BartConfig", BART)
seq2seq("marian", "MarianModel", "MarianConfig", BART | {"pad_token_id": 0, "decoder_start_token_id": 0})
vision("vit", "ViTModel", "ViTConfig", IMAGES, interpolate_pos_encoding=True)
vision("deit", "DeiTModel", "DeiTConfig", IMAGES, interpolate_pos_encoding=True)
vision("beit", "BeitModel", "BeitConfig", IMAGES, side=False)
vision("dinov2", "Dinov2Model", "Dinov2Config", IMAGES)
vision("swin", "SwinModel", "SwinConfig", {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [2, 1],
                                           "num_heads": [1, 2], "window_size": 4})
vision("convnext", "ConvNextModel", "ConvNextConfig", {"hidden_sizes": [8, 12, 16, 20], "depths": [1, 1, 1, 1],
                                                       "image_size": 32})
vision("resnet", "ResNetModel", "ResNetConfig", {"embedding_size": 8, "hidden_sizes": [8, 12], "depths": [1, 1],
                                                 "layer_type": "basic"})
vision("mobilenet_v2", "MobileNetV2Model", "MobileNetV2Config", {"depth_multiplier": 0.25, "image_size": 32})
vision("regnet", "RegNetModel", "RegNetConfig", {"embedding_size": 8, "hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1],
                                                 "groups_width": 4})
vision("segformer", "SegformerForSemanticSegmentation", "SegformerConfig",
       {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 1, 2, 2], "num_encoder_blocks": 4,
        "decoder_hidden_size": 16, "num_labels": 3})
vision("poolformer", "PoolFormerModel", "PoolFormerConfig", {"hidden_sizes": [8, 8, 12, 12], "depths": [1, 1, 1, 1]})
vision("mobilevit", "MobileViTModel", "MobileViTConfig", {"hidden_sizes": [16, 20, 24], "neck_hidden_sizes": [8, 8, 8, 12, 12, 16, 32],
                                                          "num_attention_heads": 2, "image_size": 64})
vision("yolos", "YolosForObjectDetection", "YolosConfig",
       IMAGES | {"image_size": [64, 96], "num_detection_tokens": 5, "use_mid_position_embeddings": False})
vision("focalnet", "FocalNetModel", "FocalNetConfig", {"image_size": 32, "embed_dim": 8, "depths": [1, 1], "hidden_sizes": [8, 16],
                                                       "focal_levels": [2, 2], "focal_windows": [3, 3]})
vision("glpn", "GLPNForDepthEstimation", "GLPNConfig",
       {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 1, 2, 2], "num_encoder_blocks": 4,
        "decoder_hidden_size": 8})
vision("siglip", "SiglipVisionModel", "SiglipVisionConfig", IMAGES, side=False)
vision("clip_vision", "CLIPVisionModel", "CLIPVisionConfig", IMAGES, side=False)
case("hf_clip", make(IdsPixels, "CLIPModel", "CLIPConfig",
                     {"text_config": {**TEXT, "projection_dim": 8}, "vision_config": IMAGES, "projection_dim": 8}),
     lambda texts, seq, images: {"input_ids": ints(50, texts, seq, low=3), "pixel_values": rand(images, 3, 32, 32)},
     "input_ids:0=texts,1=seq pixel_values:0=images",
     "texts=2 seq=7 images=3; texts=1 seq=7 images=1; texts=4 seq=12 images=2; texts=3 seq=3 images=5", rtol=1e-3, atol=1e-4,
     files=("pt2", "traced"))
SOUND = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 20,
         "conv_dim": [8, 8, 8], "conv_kernel": [10, 3, 2], "conv_stride": [5, 2, 2], "num_feat_extract_layers": 3,
         "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}
sound("wav2vec2", "Wav2Vec2Model", "Wav2Vec2Config", SOUND)
sound("wav2vec2_ctc", "Wav2Vec2ForCTC", "Wav2Vec2Config", SOUND | {"feat_extract_norm": "layer", "do_stable_layer_norm": True})
sound("hubert", "HubertModel", "HubertConfig", SOUND)
sound("unispeech", "UniSpeechModel", "UniSpeechConfig", SOUND | {"num_codevectors_per_group": 4, "num_codevector_groups": 2})
case("hf_ast", make(Values, "ASTModel", "ASTConfig", {k: v for k, v in IMAGES.items() if k != "image_size"} |
                    {"patch_size": 4, "max_length": 24, "num_mel_bins": 16}),
     lambda batch: {"input_values": rand(batch, 24, 16)}, "input_values:0=batch", "batch=2; batch=1; batch=3; batch=5", rtol=1e-3,
     atol=1e-4, files=("pt2", "traced"))
case("hf_whisper", make(Features, "WhisperModel", "WhisperConfig",
                        BART | {"num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 32, "pad_token_id": 0,
                                "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3}, use_cache=False),
     lambda batch, cols: {"input_features": rand(batch, 8, 40), "decoder_input_ids": ints(50, batch, cols, low=3)},
     "input_features:0=batch decoder_input_ids:0=batch,1=cols",
     "batch=2 cols=5; batch=1 cols=5; batch=3 cols=9; batch=1 cols=2", rtol=1e-3, atol=1e-4, files=("pt2", "traced"))
case("hf_patchtst", make(Past, "PatchTSTForPrediction", "PatchTSTConfig",
                         {"num_input_channels": 3, "context_length": 24, "patch_length": 6, "patch_stride": 3, "d_model": 16,
                          "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 32, "prediction_length": 4}),
     lambda batch: {"past_values": rand(batch, 24, 3)}, "past_values:0=batch", "batch=2; batch=1; batch=3; batch=5", rtol=1e-3,
     atol=1e-4, files=("pt2", "traced"))
case("hf_patchtsmixer", make(Past, "PatchTSMixerForPrediction", "PatchTSMixerConfig",
                             {"num_input_channels": 3, "context_length": 24, "patch_length": 6, "patch_stride": 6, "d_model": 8,
                              "num_layers": 2, "prediction_length": 4}),
     lambda batch: {"past_values": rand(batch, 24, 3)}, "past_values:0=batch", "batch=2; batch=1; batch=3; batch=5", rtol=1e-3,
     atol=1e-4, files=("pt2", "traced"))
