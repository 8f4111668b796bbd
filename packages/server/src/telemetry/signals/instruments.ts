import type { Attributes, Meter } from "@opentelemetry/api";

/** Seconds; as the conventions for generative AI ask for. */
const operationSeconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
/** Seconds, for what should take milliseconds. */
const shortSeconds = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Seconds, for what may wait for a person. */
const longSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 3600];

export type Instruments = ReturnType<typeof createInstruments>;

/** Measured, by today's name and, if asked, by that of version 1.41 of the conventions, which 0.2 sent. */
interface Measured {
  record(value: number, facts: Attributes): void;
}

/**
 * Instruments updated as things happen; `load-gauges.ts` has those read on demand.
 * @param before the names of version 1.41 as well
 */
export function createInstruments(meter: Meter, { before }: { readonly before: boolean }) {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries } });
  const counter = (name: string, description: string, unit: string) => meter.createCounter(name, { description, unit });
  const distribution = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: "{token}", advice: { explicitBucketBoundaries: tokens } });
  const usage = (name: string, description: string) =>
    counter(`gen_ai.client.inference.usage.${name}`, description, "{token}");
  const asBefore = before
    ? {
        duration: seconds("gen_ai.client.operation.duration", "As in 0.2.", operationSeconds),
        firstChunk: seconds("gen_ai.client.operation.time_to_first_chunk", "As in 0.2.", operationSeconds),
        tokens: distribution("gen_ai.client.token.usage", "As in 0.2."),
      }
    : undefined;
  const timed = (name: string, description: string, old = asBefore?.duration): Measured => {
    const histogram = seconds(name, description, operationSeconds);
    return {
      record(value, facts) {
        histogram.record(value, facts);
        old?.record(value, facts);
      },
    };
  };
  const distributed = (type: "input" | "output", description: string): Measured => {
    const histogram = distribution(`gen_ai.client.inference.operation.${type}_tokens`, description);
    return {
      record(value, facts) {
        histogram.record(value, facts);
        asBefore?.tokens.record(value, { ...facts, "gen_ai.token.type": type });
      },
    };
  };
  return {
    inferenceDuration: timed("gen_ai.client.inference.duration", "How long model calls take."),
    agentDuration: timed("gen_ai.invoke_agent.duration", "How long turns and sub-agents take."),
    toolDuration: timed("gen_ai.execute_tool.duration", "How long tool calls take."),
    timeToFirstChunk: timed(
      "gen_ai.client.inference.time_to_first_chunk",
      "How long the model takes to begin an answer.",
      asBefore?.firstChunk,
    ),
    inputTokens: usage("input_tokens", "Tokens sent, those from the provider's cache included."),
    outputTokens: usage("output_tokens", "Tokens of answers."),
    cacheReadTokens: usage("cache_read.input_tokens", "Tokens sent that the provider had in its cache."),
    cacheWriteTokens: usage("cache_write.input_tokens", "Tokens sent that went into the provider's cache."),
    inputTokensOfCall: distributed("input", "Tokens sent in a model call."),
    outputTokensOfCall: distributed("output", "Tokens of a model call's answer."),
    verdicts: counter("gennai.gate.verdicts", "Calls that the gate decided about.", "{call}"),
    gateDuration: seconds("gennai.gate.duration", "How long the gate takes to decide about a call.", shortSeconds),
    turns: counter("gennai.turns", "Turns that ended.", "{turn}"),
    events: counter("gennai.session.events", "Events that went into the log.", "{event}"),
    ledgerRecords: counter("gennai.ledger.records", "Records that went into the ledger.", "{record}"),
    appendDuration: seconds("gennai.log.append.duration", "How long the log takes to take a batch.", shortSeconds),
    bridge: seconds("gennai.bridge.round_trip", "How long a request to a client waits for its answer.", longSeconds),
    refused: counter("gennai.http.refused", "Requests that were refused before they reached a method.", "{request}"),
    rpc: seconds("rpc.server.call.duration", "How long RPCs take, those that stream left out.", shortSeconds),
  };
}
