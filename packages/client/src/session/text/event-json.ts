import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { type InvokeEvent, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** An event as protobuf's JSON, for programs that read lines. */
export function eventJson(event: InvokeEvent): JsonValue {
  return toJson(InvokeEventSchema, event);
}
