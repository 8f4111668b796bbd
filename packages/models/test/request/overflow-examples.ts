/** The newest list of such messages that others keep: `utils/overflow.ts` of pi-ai 1.5.2. */
const pi = "https://github.com/earendil-works/pi (packages/ai/src/utils/overflow.ts)";

/** What providers say of a request that is too long for its model, as it came, and where it was seen: one for each of `overflow-words.ts`. */
export const overflowExamples: readonly (readonly [example: string, source: string])[] = [
  [
    "prompt is too long: 227255 tokens > 200000 maximum",
    "Anthropic, and Bedrock: https://github.com/aaif-goose/goose/pull/7504",
  ],
  [
    "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again",
    "Anthropic: https://github.com/continuedev/continue/issues/6080",
  ],
  ["request_too_large: Request exceeds the maximum size", "Anthropic: https://platform.claude.com/docs/en/api/errors"],
  ["Input is too long for requested model.", "Bedrock: https://github.com/aws-samples/bedrock-chat/issues/95"],
  [
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    `OpenAI, responses: ${pi}`,
  ],
  ["context_length_exceeded", "OpenAI, code of the error: https://platform.openai.com/docs/guides/error-codes"],
  [
    "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    "vLLM, and with it OpenAI's old form, DeepSeek, OpenRouter: https://github.com/vllm-project/vllm/issues/20409",
  ],
  [
    "The decoder prompt (length 17772) is longer than the maximum model length of 16384.",
    "vLLM: https://github.com/xorbitsai/inference/issues/3785, https://github.com/vllm-project/vllm/issues/12165",
  ],
  [
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    "SGLang: https://github.com/sgl-project/sglang/issues/4048",
  ],
  ["The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", `Google: ${pi}`],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", `xAI: ${pi}`],
  ["Please reduce the length of the messages or completion.", `Groq: ${pi}`],
  ["prompt token count of 140000 exceeds the limit of 128000", `GitHub Copilot: ${pi}`],
  ["Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", `Kimi: ${pi}`],
  ["Prompt contains 300000 tokens, too large for model with 262144 maximum context length", `Mistral: ${pi}`],
  [
    "the request exceeds the available context size, try increasing it",
    "llama.cpp: https://github.com/ggml-org/llama.cpp (tools/server, exceed_context_size_error)",
  ],
  [
    "The number of tokens to keep from the initial prompt is greater than the context length",
    `LM Studio; Together says "longer than the model's": ${pi}`,
  ],
  ["prompt too long; exceeded max context length by 4 tokens", `Ollama: ${pi}`],
  ["invalid params, context window exceeds limit", `MiniMax: ${pi}`],
  ["Prompt exceeds max length", `z.ai: ${pi}`],
  [
    "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.",
    "SiliconFlow: https://github.com/leookun/cursor-byok/issues/129",
  ],
  ["Range of input length should be [1, 129024]", `DashScope: ${pi}`],
  ["Prompt has 40000 tokens, but the configured context size is 32768 tokens", `DS4: ${pi}`],
  ["too many tokens in the request", "what servers without a form of their own say"],
];
