import type { ErrorMeanings } from "./error-meaning.ts";

/** Why a turn ended with the event `error`. */
export const turnErrors = {
  answer_cut: {
    means: "the model's answer was cut off at its output limit, also when it was asked to go on",
    next: "Raise `--max-output-tokens`, or ask for less at once.",
  },
  answer_empty: {
    means: "the model answered nothing, also when it was asked again",
    next: "Say `go on`, or use another model.",
  },
  answer_malformed: {
    means: "the model wrote tool calls that cannot be read, again and again",
    next: "Say `go on`, or use a model that is better at calling tools.",
  },
  answer_refused: {
    means: "the model, or its provider's filter, refused to answer",
    next: "Ask in another way; if that does not help, clear the session or use another model.",
  },
  budget_exceeded: {
    means: "the next request would exceed a budget of tokens or cost",
    next: "Raise `--max-turn-tokens`, `--max-session-tokens` or `--max-cost`, or ask for less.",
  },
  iteration_limit: {
    means: "the turn reached its limit of model calls",
    next: "Say `go on`, or raise `--max-iterations`.",
  },
  loop_detected: { means: "the model went round in circles", next: "Say more precisely what to do." },
  model_bad_response: {
    means: "the answer of the model's server cannot be read",
    next: "Try again; check its version.",
  },
  model_context_overflow: {
    means: "the conversation is too long for the model, also after it was shortened",
    next: "Ask for less at once, clear the session, or use a model with a larger context.",
  },
  model_not_configured: { means: "the model lacks a name, an address or a key", next: "The hint says which." },
  model_rate_limited: { means: "the provider accepts no more requests for now", next: "Wait, then try again." },
  model_script_exhausted: { means: "the scripted model has no turn left", next: "Write one more into the script." },
  model_unauthorized: { means: "the provider does not accept the key", next: "Set the right key." },
  model_unreachable: { means: "nothing answers at the model's address", next: "Start it, or check the address." },
  repeated_refusal: {
    means: "the model made the same refused call three times in a row",
    next: "Say what to do instead.",
  },
  tool_call_limit: { means: "the turn reached its limit of tool calls", next: "Say `go on`, or ask for less." },
} as const satisfies ErrorMeanings;
