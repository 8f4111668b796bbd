/** One way in which a provider says that a request is too long for its model. */
interface OverflowWords {
  readonly pattern: RegExp;
  /** A message as it came, and where it was seen. `test/overflow-words.test.ts` holds that its pattern finds it. */
  readonly example: string;
  readonly source: string;
}

/** The newest list of such messages that others keep: `utils/overflow.ts` of pi-ai 1.5.2, https://github.com/earendil-works/pi. */
const pi = "https://github.com/earendil-works/pi (packages/ai/src/utils/overflow.ts)";

export const overflowRows: readonly OverflowWords[] = [
  {
    pattern: /prompt (?:is )?too long/i,
    example: "prompt is too long: 227255 tokens > 200000 maximum",
    source: "Anthropic, and Bedrock: https://github.com/aaif-goose/goose/pull/7504",
  },
  {
    pattern: /input length and `?max_tokens`? exceed context limit/i,
    example:
      "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again",
    source: "Anthropic: https://github.com/continuedev/continue/issues/6080",
  },
  {
    pattern: /request_too_large/i,
    example: "request_too_large: Request exceeds the maximum size",
    source: "Anthropic: https://platform.claude.com/docs/en/api/errors",
  },
  {
    pattern: /input is too long for requested model/i,
    example: "Input is too long for requested model.",
    source: "Bedrock: https://github.com/aws-samples/bedrock-chat/issues/95",
  },
  {
    pattern:
      /exceeds? (?:the |this |your )?(?:model(?:'s)? )?(?:maximum |available |max )?context(?:[ _](?:window|length|size|limit))?/i,
    example: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    source: `OpenAI, responses: ${pi}`,
  },
  {
    pattern: /context[_ ]length[_ ]exceeded|context window exceed|model_context_window_exceeded/i,
    example: "context_length_exceeded",
    source: "OpenAI, code of the error: https://platform.openai.com/docs/guides/error-codes",
  },
  {
    pattern: /maximum context length/i,
    example:
      "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    source:
      "vLLM, and with it OpenAI's old form, DeepSeek, OpenRouter: https://github.com/vllm-project/vllm/issues/20409",
  },
  {
    pattern: /(?:longer than|too long to fit into) the (?:maximum )?model/i,
    example: "The decoder prompt (length 17772) is longer than the maximum model length of 16384.",
    source:
      "vLLM: https://github.com/xorbitsai/inference/issues/3785, https://github.com/vllm-project/vllm/issues/12165",
  },
  {
    pattern: /exceeds the maximum allowed (?:input )?length/i,
    example: "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    source: "SGLang: https://github.com/sgl-project/sglang/issues/4048",
  },
  {
    pattern: /input token count.{0,40}exceeds the maximum/i,
    example: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    source: `Google: ${pi}`,
  },
  {
    pattern: /maximum prompt length is \d/i,
    example: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    source: `xAI: ${pi}`,
  },
  {
    pattern: /reduce the length of the (?:input )?(?:messages|prompt)/i,
    example: "Please reduce the length of the messages or completion.",
    source: `Groq: ${pi}`,
  },
  {
    pattern: /token count of \d+ exceeds the limit/i,
    example: "prompt token count of 140000 exceeds the limit of 128000",
    source: `GitHub Copilot: ${pi}`,
  },
  {
    pattern: /exceeded model token limit/i,
    example: "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    source: `Kimi: ${pi}`,
  },
  {
    pattern: /too large for model with \d+ maximum context/i,
    example: "Prompt contains 300000 tokens, too large for model with 262144 maximum context length",
    source: `Mistral: ${pi}`,
  },
  {
    pattern: /available context size/i,
    example: "the request exceeds the available context size, try increasing it",
    source: "llama.cpp: https://github.com/ggml-org/llama.cpp (tools/server, exceed_context_size_error)",
  },
  {
    pattern: /than the (?:model's )?context length/i,
    example: "The number of tokens to keep from the initial prompt is greater than the context length",
    source: `LM Studio; Together says "longer than the model's": ${pi}`,
  },
  {
    pattern: /exceeded (?:max )?context length/i,
    example: "prompt too long; exceeded max context length by 4 tokens",
    source: `Ollama: ${pi}`,
  },
  {
    pattern: /context window exceeds limit/i,
    example: "invalid params, context window exceeds limit",
    source: `MiniMax: ${pi}`,
  },
  {
    pattern: /prompt exceeds max length/i,
    example: "Prompt exceeds max length",
    source: `z.ai: ${pi}`,
  },
  {
    pattern: /has exceeded max_prompt_tokens/i,
    example: "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.",
    source: "SiliconFlow: https://github.com/leookun/cursor-byok/issues/129",
  },
  {
    pattern: /range of input length should be/i,
    example: "Range of input length should be [1, 129024]",
    source: `DashScope: ${pi}`,
  },
  {
    pattern: /configured context size/i,
    example: "Prompt has 40000 tokens, but the configured context size is 32768 tokens",
    source: `DS4: ${pi}`,
  },
  {
    pattern: /too many tokens|token limit exceeded/i,
    example: "too many tokens in the request",
    source: "what servers without a form of their own say",
  },
];

/** They are about how much was asked for in a minute, in words that are also used for one request. */
const aboutRates = /rate.?limit|too many requests|throttl|per (?:minute|day|hour)|please wait/i;

/** True for a refusal that says that the request is too long for the model. */
export function saysOverflow(text: string): boolean {
  return !aboutRates.test(text) && overflowRows.some(({ pattern }) => pattern.test(text));
}
