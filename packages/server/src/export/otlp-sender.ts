import { hostname } from "node:os";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { JsonLogsSerializer, ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { Delivery, ExportItem, Sender } from "./delivery.ts";
import { postBatch } from "./post-batch.ts";

const severities = { INFO: 9, WARN: 13, ERROR: 17 } as const;
const scope = { name: "gennai.ledger" };

type Logs = Parameters<typeof JsonLogsSerializer.serializeRequest>[0];

/** Sends records as OTLP logs over HTTP. The exporter of the SDK hides what a receiver rejected, and drops what it cannot send. */
export function otlpSender(destination: ExportDestination, version: string): Sender {
  const isJson = destination.protocol === "http/json";
  const serializer = isJson ? JsonLogsSerializer : ProtobufLogsSerializer;
  const url = new URL(destination.endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/logs`;
  const resource = resourceFromAttributes({
    "service.name": "gennai",
    "service.version": version,
    "host.name": hostname(),
  });
  const logsOf = (batch: readonly ExportItem[]): Logs =>
    batch.map(({ record }) => ({
      hrTime: [Math.floor(record.time / 1000), (record.time % 1000) * 1_000_000],
      hrTimeObserved: [Math.floor(Date.now() / 1000), (Date.now() % 1000) * 1_000_000],
      severityText: record.severity,
      severityNumber: severities[record.severity],
      eventName: record.name,
      attributes: Object.fromEntries(
        Object.entries(record.attributes).map(([key, value]) => [key, typeof value === "object" ? [...value] : value]),
      ),
      resource,
      instrumentationScope: scope,
      droppedAttributesCount: 0,
    }));
  return {
    async send(batch, signal) {
      const body = serializer.serializeRequest(logsOf(batch)) ?? new Uint8Array();
      const type = isJson ? "application/json" : "application/x-protobuf";
      const { delivery, answer } = await postBatch(destination, { url, type, body, signal });
      return delivery.type === "taken" ? takenIfWhole(() => serializer.deserializeResponse(answer)) : delivery;
    },
  };
}

/** A receiver may take a batch and reject records of it, which the specification forbids to send again. */
function takenIfWhole(read: () => ReturnType<typeof JsonLogsSerializer.deserializeResponse>): Delivery {
  let rejected = 0;
  let why = "";
  try {
    const { partialSuccess } = read();
    rejected = Number(partialSuccess?.rejectedLogRecords ?? 0);
    why = partialSuccess?.errorMessage ?? "";
  } catch {
    // Some receivers answer with nothing, or with words.
  }
  if (rejected === 0) return { type: "taken" };
  return { type: "taken", rejected: `it rejected ${rejected} records${why === "" ? "" : `: ${why}`}` };
}
