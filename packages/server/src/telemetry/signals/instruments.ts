import type { Meter } from "@opentelemetry/api";

/** Seconds; as the conventions for generative AI ask for. */
const operationSeconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
/** Seconds, for what should take milliseconds. */
const shortSeconds = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Seconds, for what may wait for a person. */
const longSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 3600];

export type Instruments = ReturnType<typeof createInstruments>;

/** Instruments updated as things happen; `load-gauges.ts` has those read on demand. */
export function createInstruments(meter: Meter) {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries } });
  const counter = (name: string, description: string, unit: string) => meter.createCounter(name, { description, unit });
  return {
    operationDuration: seconds(
      "gen_ai.client.operation.duration",
      "How long turns, model calls and tool calls take.",
      operationSeconds,
    ),
    timeToFirstChunk: seconds(
      "gen_ai.client.operation.time_to_first_chunk",
      "How long the model takes to begin an answer.",
      operationSeconds,
    ),
    tokenUsage: meter.createHistogram("gen_ai.client.token.usage", {
      description: "Tokens of a model call, as the provider counts them.",
      unit: "{token}",
      advice: { explicitBucketBoundaries: tokens },
    }),
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
