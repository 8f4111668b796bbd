import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";

const argumentsSchema = z.object({ names: z.array(z.string()) });

/** Names of tools that a call asks to be told of: one of `LoadTools`; none otherwise. */
export function wantedBy(call: { readonly name: string; readonly argumentsJson: string }): readonly string[] {
  if (call.name !== "LoadTools") return [];
  return argumentsSchema.safeParse(parsedJson(call.argumentsJson)).data?.names ?? [];
}
