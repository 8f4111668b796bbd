import { randomUUID } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";
import type { Redactor } from "@gennai/governance/redaction";
import type { ServerLog } from "@gennai/machine/server-log";
import type { ServerLoad } from "@gennai/sessions/manager/server-load";
import type { ServerObserver } from "@gennai/sessions/session/server-observer";
import type { SessionLog } from "@gennai/store/log/session-log";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { type IMetricReader, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { AlwaysOffSampler, BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { metricExporter, spanExporter } from "./export/otlp-exporters.ts";
import type { TelemetrySettings } from "./export/telemetry-settings.ts";
import { observeLoad } from "./load-gauges.ts";
import { observedGate } from "./observed-gate.ts";
import { observedModel } from "./observed-model.ts";
import { observedTurns } from "./observed-turn.ts";
import { errorCode, rpcCode } from "./signals/error-code.ts";
import { errorType } from "./signals/gen-ai.ts";
import { createInstruments, type Instruments } from "./signals/instruments.ts";
import { Names } from "./signals/names.ts";
import type { Scopes } from "./signals/scopes.ts";
import { endSpan, Tracing } from "./signals/tracing.ts";

/** Watches a server for OpenTelemetry. Disposing sends what is left, and waits for that at most 5 s. */
export interface Telemetry extends ServerObserver, AsyncDisposable {
  readonly interceptor: Interceptor;
  /** From then on it is told, too, how much there is to do. */
  watchLoad(load: () => Promise<ServerLoad>): void;
  /** All metrics as they are now, in Prometheus's text format. */
  prometheusText(): Promise<string>;
}

export interface TelemetryOptions {
  /** undefined: nothing is exported; the metrics can still be asked for. */
  readonly settings: TelemetrySettings | undefined;
  /** Metrics by the names of 0.2 as well. */
  readonly before: boolean;
  readonly version: string;
  readonly redactor: Redactor;
  readonly scopes: Scopes;
  readonly log: ServerLog;
}

const scopeName = "gennai";
/** Milliseconds. */
const shutdownTimeout = 5_000;

export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { settings, before, version, scopes, log } = options;
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        "service.name": "gennai",
        "service.version": version,
        "service.instance.id": randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const [spans, metrics] = await Promise.all([
    settings?.traces && spanExporter(settings.traces, log),
    settings?.metrics && metricExporter(settings.metrics, log),
  ]);
  const pulled = new PrometheusExporter({ preventServerStart: true });
  const readers: IMetricReader[] = [pulled];
  if (metrics !== undefined && settings?.metrics !== undefined) {
    const exportIntervalMillis = settings.metrics.intervalMs;
    const exportTimeoutMillis = Math.min(exportIntervalMillis, 30_000);
    readers.push(new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis, exportTimeoutMillis }));
  }
  const tracers = new BasicTracerProvider({
    resource,
    ...(spans === undefined
      ? { sampler: new AlwaysOffSampler() }
      : { spanProcessors: [new BatchSpanProcessor(spans)] }),
  });
  const meters = new MeterProvider({ resource, readers });
  const meter = meters.getMeter(scopeName, version);
  const watch = {
    scopes,
    tracing: new Tracing(tracers.getTracer(scopeName, version), scopes),
    instruments: createInstruments(meter, { before }),
    names: new Names(options.redactor),
  };
  const { instruments } = watch;
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  let load: Disposable | undefined;
  return {
    gate: observedGate(watch),
    ...observedTurns(watch),
    model: (model, modelSettings) => observedModel(model, modelSettings, watch),
    log: (sessionLog) => observedLog(sessionLog, instruments),
    async bridge(kind, run) {
      const began = performance.now();
      let end = "cancelled";
      try {
        const ended = await run();
        end = ended.type;
        return ended;
      } finally {
        const facts = { "gennai.request.kind": kind, "gennai.request.end": end };
        instruments.bridge.record((performance.now() - began) / 1000, facts);
      }
    },
    refused: (status) => instruments.refused.add(1, { "http.response.status_code": status }),
    interceptor: observedRpcs(watch.tracing, instruments),
    watchLoad: (read) => {
      load = observeLoad(meter, read);
    },
    async prometheusText() {
      const { resourceMetrics } = await pulled.collect();
      return serializer.serialize(resourceMetrics);
    },
    async [Symbol.asyncDispose]() {
      load?.[Symbol.dispose]();
      await Promise.race([
        Promise.allSettled([tracers.shutdown(), meters.shutdown({ timeoutMillis: shutdownTimeout })]),
        new Promise((resolve) => setTimeout(resolve, shutdownTimeout).unref()),
      ]);
    },
  };
}

/** The same log; appends are counted by kind and timed. */
function observedLog(log: SessionLog, instruments: Instruments): SessionLog {
  return {
    create: (session) => log.create(session),
    head: (sessionId) => log.head(sessionId),
    list: (filter) => log.list(filter),
    setTitle: (sessionId, title) => log.setTitle(sessionId, title),
    takeOver: (sessionId) => log.takeOver(sessionId),
    forget: (sessionId, by) => log.forget(sessionId, by),
    async append(sessionId, batch, expected) {
      const began = performance.now();
      const durable = { "gennai.log.durable": batch.durable };
      const took = (): number => (performance.now() - began) / 1000;
      try {
        const events = await log.append(sessionId, batch, expected);
        instruments.appendDuration.record(took(), durable);
        for (const { event } of batch.events) instruments.events.add(1, { "gennai.event.type": event.type });
        for (const { kind } of batch.ledger) instruments.ledgerRecords.add(1, { "gennai.ledger.kind": kind });
        return events;
      } catch (error) {
        instruments.appendDuration.record(took(), { ...durable, [errorType]: errorCode(error) });
        throw error;
      }
    },
    read: (sessionId, afterSeq, limit) => log.read(sessionId, afterSeq, limit),
    tail: (sessionId, afterSeq, options) => log.tail(sessionId, afterSeq, options),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** A server span for each unary RPC. A stream lasts for hours: it only passes the client's trace on. */
function observedRpcs(tracing: Tracing, instruments: Pick<Instruments, "rpc">): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const method = `${request.service.typeName}/${request.method.name}`;
    const facts = { "rpc.system.name": "connectrpc", "rpc.method": method };
    const span = tracing.start({ name: method, kind: "server", attributes: facts });
    const began = performance.now();
    let error: string | undefined;
    try {
      return await tracing.below(span, () => next(request));
    } catch (thrown) {
      error = rpcCode(thrown);
      throw thrown;
    } finally {
      endSpan(span, {}, error);
      const status = error === undefined ? {} : { [errorType]: error };
      instruments.rpc.record((performance.now() - began) / 1000, { ...facts, ...status });
    }
  };
}
