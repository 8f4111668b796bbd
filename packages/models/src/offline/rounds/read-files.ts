import { redactionMarker } from "@gennai/governance/redaction";
import { type FilePage, type ReplyFailure, readPage } from "./tool-replies.ts";
import { callTool, noReply, type Work } from "./tool-round.ts";

export interface WholeFile {
  /** Lines end with `\n`, whatever they end with on disk. */
  readonly text: string;
  /** False when `text` must not be written back: something was left out or masked. */
  readonly exact: boolean;
}

export type ReadOutcome =
  | { readonly file: WholeFile; readonly failure?: undefined }
  | { readonly file?: undefined; readonly failure: ReplyFailure };

const maxPages = 64;

/** Reads files to their end, the first pages of all at once. */
export function* readFiles(paths: readonly string[], thought: string): Work<readonly ReadOutcome[]> {
  if (paths.length === 0) return [];
  const replies = yield { thought, calls: paths.map((path) => ({ name: "Read", args: { file_path: path } })) };
  const outcomes: ReadOutcome[] = [];
  for (const [index, path] of paths.entries()) {
    const reply = replies[index] ?? noReply;
    if (reply.failure !== undefined) outcomes.push({ failure: reply.failure });
    else outcomes.push(yield* readRest(path, readPage(reply.output)));
  }
  return outcomes;
}

export function* readFile(path: string, thought: string): Work<ReadOutcome> {
  const [outcome] = yield* readFiles([path], thought);
  return (
    outcome ?? { failure: { code: "no_result", message: "The file was not read.", hint: undefined, outdated: false } }
  );
}

function* readRest(path: string, first: FilePage): Work<ReadOutcome> {
  const lines = [...first.lines];
  let page = first;
  let exact = first.exact;
  for (let count = 1; page.nextOffset !== undefined; count += 1) {
    if (count >= maxPages) return { file: { text: lines.join("\n"), exact: false } };
    const reply = yield* callTool(`${path} is long, reading on.`, "Read", { file_path: path, offset: page.nextOffset });
    if (reply.failure !== undefined) return { failure: reply.failure };
    page = readPage(reply.output);
    exact &&= page.exact;
    lines.push(...page.lines);
  }
  const text = lines.length === 0 ? "" : lines.join("\n") + (page.finalNewline ? "\n" : "");
  return { file: { text, exact: exact && !text.includes(redactionMarker) } };
}
