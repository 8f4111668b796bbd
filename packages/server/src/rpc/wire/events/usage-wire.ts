import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Cost, UsageSum } from "@gennai/agent/usage";
import { CompactionReason, CompactionStage } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

type UsageEvent = Extract<SessionEvent, { readonly type: "usage" }>;
type FinalEvent = Extract<SessionEvent, { readonly type: "final" }>;
type CompactedEvent = Extract<SessionEvent, { readonly type: "compacted" }>;

export function usageToWire(usage: UsageEvent | FinalEvent) {
  const { inputTokens, outputTokens, modelId, maxContextTokens, cachedInputTokens, cost } = usage;
  const counted = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cachedInputTokens };
  return {
    ...counted,
    modelId,
    maxContextTokens,
    ...costFields(cost),
    estimated: usage.type === "usage" && usage.estimated === true,
    forCompaction: usage.type === "usage" && usage.purpose === "compaction",
  };
}

export function usageSumToWire(sum: UsageSum) {
  return {
    inputTokens: BigInt(sum.inputTokens),
    outputTokens: BigInt(sum.outputTokens),
    cachedInputTokens: BigInt(sum.cachedInputTokens),
    modelCalls: sum.modelCalls,
    ...costFields(sum.cost),
  };
}

export function compactedToWire(event: CompactedEvent) {
  const { stage, reason, dropped, kept, summary, tokensBefore, tokensAfter } = event;
  return {
    stage: stages[stage],
    reason: reasons[reason],
    summary,
    tokensBefore,
    tokensAfter,
    droppedMessages: dropped,
    keptMessages: kept,
  };
}

function costFields(cost: Cost | undefined) {
  return cost === undefined ? {} : { cost: cost.amount, currency: cost.currency };
}

const stages = { outputs: CompactionStage.OUTPUTS, summary: CompactionStage.SUMMARY } as const;

const reasons = {
  limit: CompactionReason.LIMIT,
  overflow: CompactionReason.OVERFLOW,
  user: CompactionReason.USER,
} as const;
