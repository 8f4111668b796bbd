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
