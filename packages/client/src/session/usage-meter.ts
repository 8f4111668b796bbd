import type { TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** Tokens used so far, summed over the whole session, and how full the model's context is. */
export interface UsageMeter {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache, as far as it says so. */
  readonly cachedInputTokens: number;
  readonly modelCalls: number;
  /** Context tokens of the newest model call. */
  readonly contextTokens: number;
  /** 0: unknown. */
  readonly maxContextTokens: number;
  readonly modelId: string;
  /** An estimate; undefined: no price is known. */
  readonly cost: number | undefined;
  /** Currency of `cost`; may be empty. */
  readonly currency: string;
  /** Some of the tokens are a guess. */
  readonly estimated: boolean;
  /** Calls of unknown price: where others have one, it costs more than `cost`. */
  readonly unpricedCalls: number;
}

export const emptyMeter: UsageMeter = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 0,
  contextTokens: 0,
  maxContextTokens: 0,
  modelId: "",
  cost: undefined,
  currency: "",
  estimated: false,
  unpricedCalls: 0,
};

/** @param parentCallId of the call whose sub-agent used it; empty for the session's own */
export function meterAfter(meter: UsageMeter, message: TokenUsage, parentCallId: string): UsageMeter {
  const { inputTokens, outputTokens, cachedInputTokens = 0, maxContextTokens, modelId } = message;
  const { cost, currency, estimated } = message;
  // A sub-agent and a summary have a context of their own.
  const own = parentCallId === "" && !message.forCompaction;
  return {
    ...meter,
    inputTokens: meter.inputTokens + inputTokens,
    outputTokens: meter.outputTokens + outputTokens,
    cachedInputTokens: meter.cachedInputTokens + cachedInputTokens,
    modelCalls: meter.modelCalls + 1,
    ...(own ? { contextTokens: inputTokens + outputTokens, maxContextTokens, modelId } : {}),
    ...(cost === undefined ? {} : { cost: (meter.cost ?? 0) + cost, currency }),
    estimated: meter.estimated || estimated,
    unpricedCalls: meter.unpricedCalls + (cost === undefined && inputTokens + outputTokens > 0 ? 1 : 0),
  };
}

/** e.g. `about 0.042 EUR`, `at least 1.20`; empty where no price is known. */
export function costWords({
  cost,
  currency,
  unpricedCalls,
}: Pick<UsageMeter, "cost" | "currency" | "unpricedCalls">): string {
  if (cost === undefined) return "";
  const amount = cost.toLocaleString("en", { maximumSignificantDigits: cost < 1 ? 2 : 4 });
  return `${unpricedCalls > 0 ? "at least" : "about"} ${amount}${currency === "" ? "" : ` ${currency}`}`;
}

/** e.g. `context 12 %`; empty where the model's size is not known. */
export function contextWords({
  contextTokens,
  maxContextTokens,
}: Pick<UsageMeter, "contextTokens" | "maxContextTokens">): string {
  if (maxContextTokens === 0 || contextTokens === 0) return "";
  return `context ${Math.round((contextTokens / maxContextTokens) * 100)} %`;
}

/** All of it in one line; empty if the model did not report it. */
export function usageWords(usage: UsageMeter): string {
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  if (inputTokens === 0 && outputTokens === 0) return "";
  const cached = cachedInputTokens === 0 ? "" : ` (${cachedInputTokens} cached)`;
  const context = contextWords(usage);
  return [`${inputTokens} tokens in${cached}, ${outputTokens} out`, costWords(usage), context && `${context} full`]
    .filter((words) => words !== "")
    .join(" · ");
}
