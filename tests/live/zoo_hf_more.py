"""More tiny random models of transformers: images, sound, time series, and more than one of them."""

from make_torch_case import case, rand
from zoo_hf import IMAGES, SOUND, Values, Wrap, make, sound, vision

PYRAMID = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1]}
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


vision("convnextv2", "ConvNextV2Model", "ConvNextV2Config", {"hidden_sizes": [8, 12, 16, 20], "depths": [1, 1, 1, 1],
                                                             "image_size": 32})
vision("convnext_classifier", "ConvNextForImageClassification", "ConvNextConfig",
       {"hidden_sizes": [8, 12, 16, 20], "depths": [1, 1, 1, 1], "image_size": 32, "num_labels": 3})
vision("bit", "BitModel", "BitConfig", PYRAMID | {"embedding_size": 8, "num_groups": 4, "layer_type": "preactivation"})
vision("dinov2_registers", "Dinov2WithRegistersModel", "Dinov2WithRegistersConfig", IMAGES | {"num_register_tokens": 2},
       opset=18)
vision("dinov3_vit", "DINOv3ViTModel", "DINOv3ViTConfig", IMAGES | {"num_register_tokens": 2})
vision("dinov3_convnext", "DINOv3ConvNextModel", "DINOv3ConvNextConfig", PYRAMID | {"image_size": 32})
vision("efficientnet", "EfficientNetModel", "EfficientNetConfig",
       {"width_coefficient": 0.25, "depth_coefficient": 0.25, "image_size": 32, "hidden_dim": 320})
vision("hgnet", "HGNetV2ForImageClassification", "HGNetV2Config",
       {"embedding_size": 8, "stem_channels": [3, 8, 8], "hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1],
        "stage_in_channels": [8, 8, 8, 8], "stage_mid_channels": [4, 4, 4, 4], "stage_out_channels": [8, 8, 8, 8],
        "stage_num_blocks": [1, 1, 1, 1], "stage_numb_of_layers": [2, 2, 2, 2]})
vision("hiera", "HieraModel", "HieraConfig",
       {"image_size": [32, 32], "embed_dim": 8, "num_heads": [1, 2], "depths": [1, 1], "patch_stride": [4, 4],
        "masked_unit_size": [2, 2], "num_query_pool": 1}, side=False)
vision("ijepa", "IJepaModel", "IJepaConfig", IMAGES, interpolate_pos_encoding=True)
vision("levit", "LevitModel", "LevitConfig",
       {"image_size": 32, "hidden_sizes": [16, 16, 16], "num_attention_heads": [2, 2, 2], "depths": [1, 1, 1], "key_dim": [8, 8, 8],
        "patch_size": 16}, side=False)
vision("donut_swin", "DonutSwinModel", "DonutSwinConfig", {"image_size": 32, "patch_size": 4, "embed_dim": 8, "depths": [2, 1],
                                                          "num_heads": [1, 2], "window_size": 4})
vision("data2vec_vision", "Data2VecVisionModel", "Data2VecVisionConfig", IMAGES, side=False)
vision("dpt", "DPTForDepthEstimation", "DPTConfig",
       IMAGES | {"num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 8, 8],
                 "fusion_hidden_size": 8, "is_hybrid": False, "reassemble_factors": [4, 2, 1, 0.5]}, side=False)
vision("blip_vision", "BlipVisionModel", "BlipVisionConfig", IMAGES, side=False)
vision("chinese_clip_vision", "ChineseCLIPVisionModel", "ChineseCLIPVisionConfig", IMAGES, side=False)
vision("groupvit_vision", "GroupViTVisionModel", "GroupViTVisionConfig",
       IMAGES | {"num_hidden_layers": 3, "depths": [1, 1, 1], "num_group_tokens": [4, 2, 0], "num_output_groups": [4, 2, 0]},
       side=False)

sound("data2vec_audio", "Data2VecAudioModel", "Data2VecAudioConfig", SOUND | {"num_conv_pos_embeddings": 2,
                                                                            "conv_pos_kernel_size": 3})
sound("hubert_ctc", "HubertForCTC", "HubertConfig", SOUND)
case("hf_dac", make(Values, "DacModel", "DacConfig",
                                 {"encoder_hidden_size": 8, "downsampling_ratios": [2, 4], "decoder_hidden_size": 16,
                                  "upsampling_ratios": [4, 2], "n_codebooks": 2, "codebook_size": 16, "codebook_dim": 4}),
     lambda batch, n: {"input_values": rand(batch, 1, 8 * n)}, "input_values:0=batch", "batch=2 n=20; batch=1 n=20; batch=3 n=20",
     **CLOSE)
case("hf_encodec", make(Values, "EncodecModel", "EncodecConfig",
                        {"num_filters": 4, "hidden_size": 8, "upsampling_ratios": [4, 2], "codebook_size": 16, "codebook_dim": 8,
                         "num_lstm_layers": 1, "target_bandwidths": [1.5], "sampling_rate": 1600}),
     lambda batch, n: {"input_values": rand(batch, 1, 8 * n)}, "input_values:0=batch",
     "batch=2 n=20; batch=1 n=20; batch=3 n=20", **CLOSE)
class Spectrogram(Wrap):
    def forward(self, spectrogram):
        return self.model(spectrogram)


case("hf_hifigan", make(Spectrogram, "SpeechT5HifiGan", "SpeechT5HifiGanConfig",
                             {"model_in_dim": 8, "upsample_initial_channel": 16, "upsample_rates": [2, 2],
                              "upsample_kernel_sizes": [4, 4], "resblock_kernel_sizes": [3],
                              "resblock_dilation_sizes": [[1, 3]]}),
     lambda batch, n: {"spectrogram": rand(batch, n, 8)}, "spectrogram:0=batch,1=n",
     "batch=2 n=12; batch=1 n=12; batch=3 n=5; batch=2 n=30", **CLOSE)


DETR = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_queries": 5, "num_labels": 3, "use_timm_backbone": False,
        "use_pretrained_backbone": False, "backbone": None,
        "backbone_config": {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 8, 8, 8], "depths": [1, 1, 1, 1],
                            "layer_type": "basic", "out_features": ["stage4"]}}
vision("detr", "DetrForObjectDetection", "DetrConfig", DETR)
vision("conditional_detr", "ConditionalDetrForObjectDetection", "ConditionalDetrConfig", DETR)
