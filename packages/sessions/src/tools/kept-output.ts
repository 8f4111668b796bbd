import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { SearchQuery, SearchResult } from "@gennai/machine/workspace/workspace";

/** Maximum characters of a tool's result for a model: about 12,000 tokens. */
export const mostShown = 48_000;

const headShown = 30_000;
const tailShown = 16_000;
/** A cut moves to an end of line within this many characters. */
const lineReach = 2_000;

/** Results too long for the model, complete and masked, under the names given to the model. */
export interface KeptOutputs {
  /** The output with the name in `@output/NAME`; undefined if there is none. */
  text(name: string): Promise<string | undefined>;
}

/** Beginning and end of a long result, with the length of the omitted part and where to find it. */
export function headAndTail(output: string, where: string): string {
  const head = output.slice(0, endOfLine(output, headShown)).toWellFormed();
  const tail = output.slice(startOfLine(output, output.length - tailShown)).toWellFormed();
  const left = output.length - head.length - tail.length;
  return `${head}\n[… ${left} of ${output.length} characters are left out here. ${where} …]\n${tail}`;
}

function endOfLine(text: string, at: number): number {
  const end = text.lastIndexOf("\n", at);
  return end > at - lineReach ? end : at;
}

function startOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end !== -1 && end < at + lineReach ? end + 1 : at;
}

export async function keptOutput(outputs: KeptOutputs, name: string): Promise<string> {
  const text = await outputs.text(name);
  if (text !== undefined) return text;
  throw new ToolFailure("not_found", `There is no kept output @output/${name} in this session.`, {
    hint: "Call the tool that gave it again.",
  });
}

/** Searches a text like a workspace file; its lines are reported under `path`. */
export async function searchText(
  text: string,
  path: string,
  query: SearchQuery,
  options: { readonly signal: AbortSignal },
): Promise<SearchResult> {
  const directory = await mkdtemp(join(tmpdir(), "gennai-output-"));
  try {
    await writeFile(join(directory, "output"), text, { mode: 0o600 });
    const files = openLocalWorkspace(directory, { stateDir: `${directory}-state` });
    const found = await files.search(query, await files.resolve("output"), options);
    return { ...found, lines: found.lines.map((line) => line.replace(/^output/, path)) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
