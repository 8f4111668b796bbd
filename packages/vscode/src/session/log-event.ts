import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { LogLevel, type LogOutputChannel } from "vscode";

/** Logs every event, unchanged, at trace level; warnings and errors at their own level. */
export function logEvent(log: LogOutputChannel, event: InvokeEvent): void {
  if (log.logLevel === LogLevel.Trace) {
    log.trace(`${event.seq} ${event.event.case ?? "?"}`, JSON.stringify(event, bigintText));
  }
  if (event.event.case === "warning") log.warn(event.event.value);
  if (event.event.case === "error") log.error(event.event.value);
}

function bigintText(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Uint8Array ? `${value.byteLength} bytes` : value;
}
