"""More tiny random models of transformers: encoders, decoders without a cache, and those that have both."""

from zoo_hf import BART, CAUSAL, TEXT, causal, seq2seq, text

# Configurations that take what BERT's takes.
text("camembert_masked", "CamembertForMaskedLM", "CamembertConfig", TEXT)
text("data2vec_text", "Data2VecTextModel", "Data2VecTextConfig", TEXT)
text("ernie", "ErnieModel", "ErnieConfig", TEXT)
text("ibert", "IBertModel", "IBertConfig", TEXT | {"quant_mode": False})
text("megatron_bert", "MegatronBertModel", "MegatronBertConfig", TEXT)
text("big_bird", "BigBirdModel", "BigBirdConfig", TEXT | {"attention_type": "original_full"})
text("luke", "LukeModel", "LukeConfig", TEXT | {"entity_vocab_size": 10, "entity_emb_size": 8})
text("layoutlm", "LayoutLMModel", "LayoutLMConfig", TEXT)
text("longformer", "LongformerModel", "LongformerConfig", TEXT | {"attention_window": 4})
text("funnel", "FunnelBaseModel", "FunnelConfig",
     {"vocab_size": 50, "d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 32, "block_sizes": [1, 1], "num_decoder_layers": 1})
text("flaubert", "FlaubertModel", "FlaubertConfig",
     {"vocab_size": 50, "emb_dim": 16, "n_layers": 2, "n_heads": 2, "max_position_embeddings": 64})
text("eurobert", "EuroBertModel", "EuroBertConfig", TEXT | {"num_key_value_heads": 2})
text("distilbert_qa", "DistilBertForQuestionAnswering", "DistilBertConfig",
     {"vocab_size": 50, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 64})
text("bert_tokens", "BertForTokenClassification", "BertConfig", TEXT | {"num_labels": 5})
text("electra_masked", "ElectraForMaskedLM", "ElectraConfig", TEXT | {"embedding_size": 8})
text("gpt2_classifier", "GPT2ForSequenceClassification", "GPT2Config",
     {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "pad_token_id": 0})
text("clip_text", "CLIPTextModel", "CLIPTextConfig", TEXT)

GPT = {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = CAUSAL | {"num_experts": 3, "num_local_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
causal("arcee", "ArceeForCausalLM", "ArceeConfig", CAUSAL)
causal("apertus", "ApertusForCausalLM", "ApertusConfig", CAUSAL)
causal("bitnet", "BitNetForCausalLM", "BitNetConfig", CAUSAL)
causal("biogpt", "BioGptForCausalLM", "BioGptConfig", TEXT)
causal("codegen", "CodeGenForCausalLM", "CodeGenConfig", GPT | {"n_head": 4, "rotary_dim": 4})
causal("cohere", "CohereForCausalLM", "CohereConfig", CAUSAL)
causal("cohere2", "Cohere2ForCausalLM", "Cohere2Config", CAUSAL | {"sliding_window": 6})
causal("ctrl", "CTRLLMHeadModel", "CTRLConfig",
       {"vocab_size": 50, "n_embd": 16, "dff": 32, "n_layer": 2, "n_head": 2, "n_positions": 64})
causal("deepseek_v2", "DeepseekV2ForCausalLM", "DeepseekV2Config",
       TEXT | {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": None, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
               "v_head_dim": 8, "n_routed_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
               "first_k_dense_replace": 1, "n_shared_experts": 1})
causal("deepseek_v3", "DeepseekV3ForCausalLM", "DeepseekV3Config",
       TEXT | {"num_key_value_heads": 2, "kv_lora_rank": 8, "q_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4,
               "v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_group": 2,
               "topk_group": 1, "first_k_dense_replace": 1, "n_shared_experts": 1})
causal("diffllama", "DiffLlamaForCausalLM", "DiffLlamaConfig", TEXT | {"num_key_value_heads": 2})
causal("doge", "DogeForCausalLM", "DogeConfig", CAUSAL)
causal("dots1", "Dots1ForCausalLM", "Dots1Config",
       EXPERTS | {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1})
causal("ernie4_5", "Ernie4_5ForCausalLM", "Ernie4_5Config", CAUSAL)
causal("exaone4", "Exaone4ForCausalLM", "Exaone4Config", CAUSAL | {"sliding_window": 6})
causal("falcon_alibi", "FalconForCausalLM", "FalconConfig",
       {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "alibi": True})
causal("gemma", "GemmaForCausalLM", "GemmaConfig", CAUSAL)
causal("gemma3", "Gemma3ForCausalLM", "Gemma3TextConfig", CAUSAL | {"sliding_window": 6})
causal("glm", "GlmForCausalLM", "GlmConfig", CAUSAL)
causal("glm4", "Glm4ForCausalLM", "Glm4Config", CAUSAL)
causal("gpt_bigcode", "GPTBigCodeForCausalLM", "GPTBigCodeConfig", GPT)
causal("gpt_neo", "GPTNeoForCausalLM", "GPTNeoConfig",
       {"vocab_size": 50, "hidden_size": 16, "num_layers": 2, "num_heads": 2, "max_position_embeddings": 64, "window_size": 4,
        "attention_types": [[["global", "local"], 1]]})
causal("gpt_neox_japanese", "GPTNeoXJapaneseForCausalLM", "GPTNeoXJapaneseConfig", TEXT | {"intermediate_multiple_size": 2})
causal("gpt_oss", "GptOssForCausalLM", "GptOssConfig", EXPERTS | {"sliding_window": 6})
causal("granite", "GraniteForCausalLM", "GraniteConfig", CAUSAL)
causal("granitemoe", "GraniteMoeForCausalLM", "GraniteMoeConfig", EXPERTS)
causal("helium", "HeliumForCausalLM", "HeliumConfig", CAUSAL)
causal("jetmoe", "JetMoeForCausalLM", "JetMoeConfig",
       {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_key_value_heads": 2, "kv_channels": 8,
        "intermediate_size": 16, "num_local_experts": 3, "num_experts_per_tok": 2})
causal("lfm2", "Lfm2ForCausalLM", "Lfm2Config", CAUSAL | {"layer_types": ["conv", "full_attention"], "conv_L_cache": 3})
causal("ministral", "MinistralForCausalLM", "MinistralConfig", CAUSAL | {"sliding_window": 6})
causal("mamba", "MambaForCausalLM", "MambaConfig", {"vocab_size": 50, "hidden_size": 8, "state_size": 4, "num_hidden_layers": 1})
causal("falcon_mamba", "FalconMambaForCausalLM", "FalconMambaConfig",
       {"vocab_size": 50, "hidden_size": 8, "state_size": 4, "num_hidden_layers": 1})
causal("bert_generation", "BertGenerationDecoder", "BertGenerationConfig", TEXT | {"is_decoder": True})

seq2seq("mbart", "MBartModel", "MBartConfig", BART)
seq2seq("blenderbot", "BlenderbotModel", "BlenderbotConfig", BART)
seq2seq("blenderbot_small", "BlenderbotSmallModel", "BlenderbotSmallConfig", BART)
seq2seq("m2m_100", "M2M100Model", "M2M100Config", BART)
seq2seq("fsmt", "FSMTModel", "FSMTConfig", BART | {"langs": ["en", "de"], "src_vocab_size": 50, "tgt_vocab_size": 50})
seq2seq("led", "LEDModel", "LEDConfig", BART | {"attention_window": 4, "max_encoder_position_embeddings": 64,
                                               "max_decoder_position_embeddings": 64})
T5 = {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
seq2seq("longt5", "LongT5Model", "LongT5Config", T5 | {"local_radius": 3})
