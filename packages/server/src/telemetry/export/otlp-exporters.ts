import type { ServerLog } from "@gennai/machine/server-log";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Otlp } from "./telemetry-settings.ts";

/** Milliseconds between two warnings that the collector cannot be reached. */
const quietMs = 300_000;

/** Sends spans by OTLP over HTTP, to where the standard variables say. Failures are told, now and then, and stop nothing. */
export async function spanExporter({ protocol }: Otlp, log: ServerLog): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === "http/json" ? await import("./otlp-json.ts") : await import("./otlp-proto.ts");
  const exporter: SpanExporter = new OTLPTraceExporter();
  const failed = failures("Traces", log);
  return {
    export: (spans, done) => exporter.export(spans, watched(done, failed)),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The same for metrics. */
export async function metricExporter({ protocol }: Otlp, log: ServerLog): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    protocol === "http/json" ? await import("./otlp-json.ts") : await import("./otlp-proto.ts");
  const exporter = new OTLPMetricExporter();
  const failed = failures("Metrics", log);
  return {
    export: (metrics, done) => exporter.export(metrics, watched(done, failed)),
    selectAggregation: (instrument) => exporter.selectAggregation(instrument),
    selectAggregationTemporality: (instrument) => exporter.selectAggregationTemporality(instrument),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

function watched(
  done: (result: ExportResult) => void,
  failed: (error: Error | undefined) => void,
): (result: ExportResult) => void {
  return (result) => {
    if (result.code !== ExportResultCode.SUCCESS) failed(result.error);
    done(result);
  };
}

function failures(what: string, log: ServerLog): (error: Error | undefined) => void {
  let told = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - told < quietMs) return;
    told = performance.now();
    const why = error === undefined || error.message === "" ? "" : `: ${error.message}`;
    log.warn(`${what} cannot be exported${why}. The server goes on without; look at OTEL_EXPORTER_OTLP_ENDPOINT.`);
  };
}
