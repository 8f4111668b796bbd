import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";

/** A JSON file of the server's own; undefined if it does not exist, is damaged, or has another version. */
export function readChecked<Value>(path: string, schema: z.ZodType<Value>): Value | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}
