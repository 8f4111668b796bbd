import type { TokenUsage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** Tokens used so far, summed over the whole session, and how full the model's context is. */
export interface UsageMeter {
  readonly inputTokens: number;
  readonly outputTokens: number;
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
  /** Some answers had no price, so that it costs more than `cost`. */
  readonly partlyUnpriced: boolean;
}

export const emptyMeter: UsageMeter = {
  inputTokens: 0,
  outputTokens: 0,
  contextTokens: 0,
  maxContextTokens: 0,
  modelId: "",
  cost: undefined,
  currency: "",
  estimated: false,
  partlyUnpriced: false,
};

/** @param parentCallId of the call whose sub-agent used it; empty for the session's own */
export function meterAfter(meter: UsageMeter, message: TokenUsage, parentCallId: string): UsageMeter {
  const { inputTokens, outputTokens, maxContextTokens, modelId, cost, currency, estimated } = message;
  // A sub-agent and a summary have a context of their own.
  const own = parentCallId === "" && !message.forCompaction;
  return {
    ...meter,
    inputTokens: meter.inputTokens + inputTokens,
    outputTokens: meter.outputTokens + outputTokens,
    ...(own ? { contextTokens: inputTokens + outputTokens, maxContextTokens, modelId } : {}),
    ...(cost === undefined ? {} : { cost: (meter.cost ?? 0) + cost, currency }),
    estimated: meter.estimated || estimated,
    partlyUnpriced: meter.partlyUnpriced || (cost === undefined && inputTokens + outputTokens > 0),
  };
}

/** e.g. `about 0.042 EUR`, `at least 1.20`; empty where no price is known. */
export function costWords({
  cost,
  currency,
  partlyUnpriced,
}: Pick<UsageMeter, "cost" | "currency" | "partlyUnpriced">): string {
  if (cost === undefined) return "";
  const amount = cost.toLocaleString("en", { maximumSignificantDigits: cost < 1 ? 2 : 4 });
  return `${partlyUnpriced ? "at least" : "about"} ${amount}${currency === "" ? "" : ` ${currency}`}`;
}

/** e.g. `context 12 %`; empty where the model's size is not known. */
export function contextWords({
  contextTokens,
  maxContextTokens,
}: Pick<UsageMeter, "contextTokens" | "maxContextTokens">): string {
  if (maxContextTokens === 0 || contextTokens === 0) return "";
  return `context ${Math.round((contextTokens / maxContextTokens) * 100)} %`;
}
