import { expect } from "vitest";
import { OfflineModel } from "#offline/offline-model";
import { codeTools, converse, ToolWorld } from "./tool-world.ts";

/** What somebody says, and the result. */
export interface ConversationRow {
  readonly name: string;
  readonly files?: Record<string, string>;
  readonly say: string;
  readonly tools?: readonly string[];
  readonly refuse?: ToolWorld["refuse"];
  readonly calls?: readonly string[];
  readonly after?: Record<string, string>;
  readonly answer: readonly (string | RegExp)[];
  readonly never?: readonly (string | RegExp)[];
}

/** The assistant does what the row says, no more, and says so. */
export async function expectRow(row: ConversationRow): Promise<void> {
  const { files = {}, say, tools = codeTools, refuse, calls, after, answer, never = [] } = row;
  const world = new ToolWorld(files, refuse);
  const text = await converse(new OfflineModel(), world, say, tools);
  if (calls !== undefined) expect(world.calls).toEqual(calls);
  if (after !== undefined) expect(Object.fromEntries(world.files)).toEqual(after);
  for (const part of answer) expect(text).toMatch(typeof part === "string" ? literal(part) : part);
  for (const part of never) expect(text).not.toMatch(typeof part === "string" ? literal(part) : part);
}

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}
