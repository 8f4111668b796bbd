import * as z from "zod";
import { UnreadableHookInput } from "./guarded-host.ts";

/** Reads what an agent tells by a schema. @param complaint about anything else, which the reader throws as `UnreadableHookInput` */
export function payloadReader(
  complaint: string,
): <Schema extends z.ZodType>(schema: Schema, payload: unknown) => z.infer<Schema> {
  return (schema, payload) => {
    const result = schema.safeParse(payload);
    if (result.success) return result.data;
    throw new UnreadableHookInput(`${complaint}: ${z.prettifyError(result.error)}`);
  };
}

const named = z.looseObject({ hook_event_name: z.string() });

/** Whether the hook was called for one of its registered events, except the excluded ones. */
export function isEventBut(excluded: readonly string[], events: readonly string[]): (payload: unknown) => boolean {
  return (payload) => {
    const { hook_event_name: event } = named.safeParse(payload).data ?? {};
    return event !== undefined && !excluded.includes(event) && events.includes(event);
  };
}
