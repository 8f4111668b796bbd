/** How providers say that a request is too long for its model; `overflow-examples.ts` of the tests has a message for each, as it came. */
const overflowWords: readonly RegExp[] = [
  /prompt (?:is )?too long/i,
  /input length and `?max_tokens`? exceed context limit/i,
  /request_too_large/i,
  /input is too long for requested model/i,
  /exceeds? (?:the |this |your )?(?:model(?:'s)? )?(?:maximum |available |max )?context(?:[ _](?:window|length|size|limit))?/i,
  /context[_ ]length[_ ]exceeded|context window exceed|model_context_window_exceeded/i,
  /maximum context length/i,
  /(?:longer than|too long to fit into) the (?:maximum )?model/i,
  /exceeds the maximum allowed (?:input )?length/i,
  /input token count.{0,40}exceeds the maximum/i,
  /maximum prompt length is \d/i,
  /reduce the length of the (?:input )?(?:messages|prompt)/i,
  /token count of \d+ exceeds the limit/i,
  /exceeded model token limit/i,
  /too large for model with \d+ maximum context/i,
  /available context size/i,
  /than the (?:model's )?context length/i,
  /exceeded (?:max )?context length/i,
  /context window exceeds limit/i,
  /prompt exceeds max length/i,
  /has exceeded max_prompt_tokens/i,
  /range of input length should be/i,
  /configured context size/i,
  /too many tokens|token limit exceeded/i,
];

/** They are about how much was asked for in a minute, in words that are also used for one request. */
const aboutRates = /rate.?limit|too many requests|throttl|per (?:minute|day|hour)|please wait/i;

/** True for a refusal that says that the request is too long for the model. */
export function saysOverflow(text: string): boolean {
  return !aboutRates.test(text) && overflowWords.some((words) => words.test(text));
}
