import { lstat, readFile, realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import * as words from "@gennai/client/origin-words";
import { methodWords, unknownWords, verificationWords, whenWords } from "@gennai/client/origin-words";
import type { WriteDecision } from "@gennai/protocol/model/governance/line-trace";
import { plural } from "@gennai/protocol/plural";
import type { RecordedWrite } from "@gennai/provenance/matching/recorded-write";
import type { LineOrigin, ProvenanceTrust } from "@gennai/provenance/workspace-provenance";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { type Paint, paintFor } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { type Said, said } from "../command-host.ts";
import { openProvenance, type SourceFlags } from "./open-provenance.ts";
import { momentOf } from "./since.ts";

export interface BlameFlags extends SourceFlags {
  readonly since?: string;
  readonly json?: boolean;
}

/** Exit code if the answer depends on a ledger that differs from what was signed. */
const untrusted = 10;

/** `gennai blame FILE[:LINES]`. */
export async function blameCommand(named: string, flags: BlameFlags, console: Console): Promise<Said> {
  const { workspaceRoot, provenance } = await openProvenance(flags, console);
  const wanted = fileAndLines(named);
  if (wanted === undefined) throw usageError(`${named} names no lines.`, "Lines are counted from 1, e.g. FILE:40-60.");
  const { path, text } = await readWorkspaceText(wanted.file, workspaceRoot);
  const since = flags.since === undefined ? undefined : await momentOf(flags.since, workspaceRoot);
  const all = await provenance.originsOf(path, text);
  const range = { first: wanted.lines?.first ?? 1, last: Math.min(wanted.lines?.last ?? all.length, all.length) };
  if (range.first > all.length && all.length > 0)
    throw usageError(`${path} has ${all.length} lines.`, "Name some of them.");
  const origins = all.slice(range.first - 1, range.last).map((origin) => ofSince(origin, since));
  if (flags.json !== true) {
    warnOfTrust(provenance.trust, console);
    if (provenance.writes.length === 0) {
      console.errors.write(
        terminalSafe(`No call wrote a file of ${workspaceRoot}, as far as is recorded: is the workspace another one?`) +
          " Name it with --workspace.\n",
      );
    }
  }
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  const shown = () => blameText(lines, origins, range, paintFor(console.output, console.environment));
  const code = provenance.trust.status === "ok" ? exitCode.ok : untrusted;
  return said(blameJson(path, origins, range, provenance.trust), shown, code);
}

/** Warns on standard error if the ledger is not as it was signed, or if nobody vouches for its key. */
function warnOfTrust({ status, message, source }: ProvenanceTrust, console: Console): void {
  if (source === "unchecked-notes") console.errors.write(`warning: ${message}\n`);
  else if (source === "notes") console.errors.write(`${message}\n`);
  else if (status !== "ok") {
    console.errors.write(terminalSafe(`warning: The ledger is not as it was signed (${status}): ${message}`) + "\n");
  } else if (source === "bundle-own-key") {
    console.errors.write("warning: The bundle was checked with its own key: name its signer's with --public-key.\n");
  }
}

/** Makes lines unknown that were written before `since`. */
function ofSince(origin: LineOrigin, since: number | undefined): LineOrigin {
  if (since === undefined || origin.type !== "recorded" || Date.parse(origin.write.time) >= since) return origin;
  return { type: "unknown", reason: "outside", candidates: [] };
}

function blameText(
  lines: readonly string[],
  origins: readonly LineOrigin[],
  { first }: LineRange,
  paint: Paint,
): string {
  const records = new Map<number, { readonly write: RecordedWrite; readonly found: Map<string, number> }>();
  const unknown = new Map<string, number>();
  const width = origins.reduce((most, origin) => Math.max(most, markOf(origin).length), 2);
  const numbers = String(first + origins.length - 1).length;
  const shown = origins.map((origin, at) => {
    if (origin.type === "recorded") {
      const entry = records.get(origin.write.seq) ?? { write: origin.write, found: new Map<string, number>() };
      const how = `${methodWords[origin.method]} (${Math.round(origin.confidence * 100)} %)`;
      entry.found.set(how, (entry.found.get(how) ?? 0) + 1);
      records.set(origin.write.seq, entry);
    } else unknown.set(origin.reason, (unknown.get(origin.reason) ?? 0) + 1);
    const number = String(first + at).padStart(numbers);
    const mark = paint(colourOf(origin), markOf(origin).padEnd(width));
    return `${mark} ${paint("dim", number)}  ${terminalSafe(lines[first + at - 1] ?? "")}`.trimEnd();
  });
  const told = [...records.values()]
    .sort((one, other) => one.write.seq - other.write.seq)
    .map(({ write, found }) => {
      const name = paint("bold", `#${write.seq}`.padEnd(width));
      const rest = [
        ["intent", write.intent === undefined ? "none was selected" : terminalSafe(write.intent)],
        ["agreed", decisionWords(write.decision)],
        ["checked", verificationWords[write.verification]],
        ["found", [...found].map(([how, count]) => `${plural(count, "line")}: ${how}`).join("; ")],
      ].map(([what = "", words = ""]) => `${" ".repeat(width)} ${what.padEnd(8)} ${words}`);
      return [`${name} ${writerWords(write)}, ${terminalSafe(whenWords(write.time))}`, ...rest].join("\n");
    });
  const reasons = (["outside", "ambiguous", "not-recorded"] as const).flatMap((reason) => {
    const count = unknown.get(reason);
    const mark = reason === "ambiguous" ? "?" : "·";
    return count === undefined
      ? []
      : [`${mark.padEnd(width)} ${plural(count, "line")} unknown: ${unknownWords[reason]}`];
  });
  return [...shown, ...(shown.length === 0 ? [] : [""]), ...told, ...reasons, ""].join("\n");
}

function markOf(origin: LineOrigin): string {
  if (origin.type === "recorded") return `#${origin.write.seq}`;
  return origin.reason === "ambiguous" ? "?" : "·";
}

function colourOf(origin: LineOrigin): Parameters<Paint>[0] {
  if (origin.type === "unknown") return "dim";
  if (origin.write.verification === "failed") return "red";
  return colours[origin.write.seq % colours.length] ?? "cyan";
}

const colours = ["cyan", "magenta", "blue", "green", "yellow"] as const;

function blameJson(
  file: string,
  origins: readonly LineOrigin[],
  { first }: LineRange,
  trust: ProvenanceTrust,
): Readonly<Record<string, unknown>> {
  const records = new Map<number, RecordedWrite>();
  const lines = origins.map((origin, at) => {
    const line = first + at;
    if (origin.type === "unknown") {
      return { line, unknown: origin.reason, candidates: origin.candidates.map(({ seq }) => seq) };
    }
    records.set(origin.write.seq, origin.write);
    return { line, record: origin.write.seq, method: origin.method, confidence: origin.confidence };
  });
  return { file, trust, lines, records: Object.fromEntries(records) };
}

/** Lines of a file, 1-based, both included. */
interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** `FILE`, `FILE:12`, `FILE:12-20` or `FILE:12,20`. A range that ends before it begins, or begins at 0, is undefined. */
function fileAndLines(named: string): { readonly file: string; readonly lines: LineRange | undefined } | undefined {
  const [, file = "", first = "", last = first] = /^(.+):(\d+)(?:[-,](\d+))?$/.exec(named) ?? [];
  if (file === "") return { file: named, lines: undefined };
  const lines = { first: Number(first), last: Number(last) };
  return lines.first < 1 || lines.last < lines.first ? undefined : { file, lines };
}

/** Who wrote: a model in a session, or a person. */
function writerWords(write: RecordedWrite): string {
  return terminalSafe(words.writerWords(write));
}

/** Who let it happen. */
function decisionWords(decision: WriteDecision): string {
  return terminalSafe(words.decisionWords(decision));
}

/** Largest file that is read; bytes. */
const maxBytes = 8 * 1024 * 1024;

interface WorkspaceText {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly text: string;
}

/**
 * A text file of the workspace. Throws `CliError` for one outside it, a link that leads out, and non-text.
 * @param named absolute, or relative to the workspace as with `git -C`, independent of the working directory
 */
async function readWorkspaceText(named: string, workspaceRoot: string): Promise<WorkspaceText> {
  const file = await realpath(resolve(workspaceRoot, named)).catch((error: unknown) => {
    throw new CliError(`There is no file ${named} in ${workspaceRoot}.`, {
      next: ["Name a text file of the workspace, by its path from there."],
      cause: error,
    });
  });
  const path = relative(workspaceRoot, file).split(sep).join("/");
  if (path === "" || path.startsWith("../") || path === ".." || resolve(workspaceRoot, path) !== file) {
    throw usageError(`${named} is not in the workspace ${workspaceRoot}.`, "Name the workspace with --workspace.");
  }
  const found = await lstat(file);
  if (!found.isFile()) throw usageError(`${named} is not a file.`, "Name a text file of the workspace.");
  if (found.size > maxBytes) throw new CliError(`${named} is larger than ${maxBytes} bytes.`, { next: [] });
  const bytes = await readFile(file);
  if (bytes.includes(0)) throw new CliError(`${named} is not text.`, { next: [] });
  return { path, text: bytes.toString("utf8") };
}
