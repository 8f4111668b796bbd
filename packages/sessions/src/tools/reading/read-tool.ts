import { createHash } from "node:crypto";
import { relative } from "node:path";
import type { WorkspacePath } from "@gennai/governance/effect";
import type { BuiltInTool, ObservedFile, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { withoutKeyLines } from "@gennai/machine/redaction/private-key";
import { decodeText, encodeText } from "@gennai/machine/workspace/files/text-file";
import type { FileContent, Workspace } from "@gennai/machine/workspace/workspace";
import { countLines } from "@gennai/protocol/diff/line-edit";
import type { FileRead } from "@gennai/protocol/model/session/editor-requests";
import { z } from "zod";
import type { EditorBridge } from "../../bridge/session-bridge.ts";
import { keptOutputName } from "../../session/state/kept-output-name.ts";
import type { SeenContents } from "../../session/state/seen-contents.ts";
import type { Staging } from "../commands/bash-tool.ts";
import { type KeptOutputs, keptOutput } from "../kept-output.ts";
import { lostEditor } from "../lost-editor.ts";
import { filePathNames } from "../other-names.ts";
import { pathName } from "../path-name.ts";
import { maxFileBytes } from "../text-limits.ts";
import { waysToKeep } from "../ways-to-keep.ts";
import { effectPath } from "./effect-path.ts";
import { numberedLines, partOfText, type TextPart } from "./numbered-lines.ts";
import { isShownFromDisk, shownFile, type WantedPart } from "./shown-file.ts";

const defaultLimit = 2000;

const mostLines = 100_000;

const parameters = z.strictObject({
  file_path: z.string().min(1, "file_path must not be empty."),
  offset: z
    .int()
    .min(1, "offset counts lines from 1.")
    .optional()
    .describe("First line to read, from 1; of a notebook, first cell."),
  limit: z
    .int()
    .min(1, "limit must be at least 1.")
    .max(mostLines)
    .optional()
    .describe("Lines to read; 2000 by default. Of a notebook, cells."),
  cell_id: z.string().min(1).max(200).optional().describe("Of a notebook: only this cell, with more of its output."),
});

type ReadArguments = z.infer<typeof parameters>;

export interface ReadPorts {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
  /** Stores what was read. */
  readonly seen?: SeenContents | undefined;
  readonly outputs: KeptOutputs;
  /** Where commands of the session may see other files. */
  readonly staging?: Pick<Staging, "stages" | "session"> | undefined;
}

/**
 * Reads a text file as numbered lines: from an attached editor's buffer if possible, to include unsaved changes. Images are
 * shown. The type is decided by the bytes, not the name.
 */
export function readTool(ports: ReadPorts): BuiltInTool<ReadArguments> {
  const { workspace, outputs } = ports;
  return {
    name: "Read",
    description:
      "Reads a text file. Every line comes as its number, a tab and the text; notes in brackets follow. " +
      "Unsaved changes in the user's editor are included. Shows an image (PNG, JPEG, GIF, WebP), and a notebook (.ipynb) by its cells.",
    parameters,
    otherNames: { ...filePathNames, start_line: "offset" },
    otherShape: (args) => fromFirstLine(withoutViewRange(args)),
    access: "read",

    async analyse(args) {
      const output = keptOutputName(args.file_path);
      if (output !== undefined)
        return { statement: `Read ${args.file_path}, a result of before`, effects: [{ type: "session" }] };
      const path = await workspace.resolve(args.file_path);
      return { statement: `Read ${pathName(path)}`, effects: [{ type: "read", path }] };
    },

    async execute(args, analysis, { signal }) {
      const wanted = { offset: 1, limit: defaultLimit, ...args };
      const { offset, limit } = wanted;
      const output = keptOutputName(args.file_path);
      if (output !== undefined) {
        const part = partOfText(await keptOutput(outputs, output), offset, limit);
        return shownPart(args.file_path, part);
      }
      const path = effectPath(analysis, "read");
      const { staging } = ports;
      return withLayerHint(path, { staging, root: workspace.root }, () => readFile(ports, path, wanted, signal));
    },
  };
}

/** From the editor's buffer, if it has one. */
async function readFile(
  ports: ReadPorts,
  path: WorkspacePath,
  wanted: WantedPart & { readonly offset: number; readonly limit: number },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { workspace, editor } = ports;
  const { offset, limit } = wanted;
  if (!editor.can("file-read")) return readDisk(ports, path, wanted, signal);
  const stat = await workspace.stat(path);
  // Do not ask the editor: it has no buffer for non-text files, and the disk gives the exact error.
  if (isShownFromDisk(path.relative) || (stat !== undefined && (stat.kind !== "file" || stat.size > maxFileBytes))) {
    return readDisk(ports, path, wanted, signal);
  }
  try {
    const request = { path: pathName(path), offset, limit, reason: "Need latest buffer including unsaved changes" };
    const file = await editor.readFile(request, { signal });
    return await editorOutcome(ports, path, file, offset, limit, signal);
  } catch (error) {
    if (signal.aborted || !lostEditor(error)) throw error;
    const outcome = await readDisk(ports, path, wanted, signal);
    if (outcome.images !== undefined) return outcome;
    return { ...outcome, output: `${outcome.output}\n[read from disk: the editor did not answer]` };
  }
}

/** Some models count from 0; 0 is the first line in both cases. */
function fromFirstLine(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { offset, ...others } = args;
  return offset === 0 ? others : args;
}

/** Converts `view_range` of Anthropic's text editor tool: first and last line, -1 for the end of the file. */
function withoutViewRange({ view_range: range, ...others }: Readonly<Record<string, unknown>>) {
  const [first, last] = Array.isArray(range) && range.length === 2 ? range.map(Number) : [];
  const isRange = Number.isSafeInteger(first) && Number.isSafeInteger(last);
  if (!isRange || first === undefined || last === undefined || "offset" in others || "limit" in others) {
    return range === undefined ? others : { ...others, view_range: range };
  }
  // An inverted range stays invalid, so that the tool refuses it.
  return { ...others, offset: first, limit: last === -1 ? mostLines : Math.min(mostLines, last - first + 1) };
}

async function readDisk(
  ports: ReadPorts,
  path: WorkspacePath,
  wanted: WantedPart,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const content = await diskContent(ports.workspace, path, signal);
  const { bytes, sha256 } = content;
  const observed = { path: path.relative, source: "disk", sha256 } as const;
  const shown = shownFile(pathName(path), bytes, wanted);
  // Only text is compared with a stale file later.
  if (shown === undefined || decodeText(bytes) !== undefined) ports.seen?.keep(sha256, bytes);
  if (shown !== undefined) return { ...shown, observed: [observed] };
  const text = decodeText(bytes)?.text;
  if (text === undefined) return { output: `[${notText(path, bytes)}]`, observed: [observed] };
  return outcomeOf(path, withoutKeys(partOfText(text, wanted.offset, wanted.limit), text), observed);
}

function diskContent(workspace: Workspace, path: WorkspacePath, signal: AbortSignal): Promise<FileContent> {
  return workspace.read(path, { maxBytes: maxFileBytes, signal }).catch(withGrepHint);
}

/** undefined if there is no text that can be read. */
async function diskText(workspace: Workspace, path: WorkspacePath, signal: AbortSignal) {
  const content = await diskContent(workspace, path, signal).catch(() => undefined);
  const text = content && decodeText(content.bytes)?.text;
  return text === undefined ? undefined : { ...content, text };
}

/** Nothing of it can be shown, but it is known from then on: otherwise nothing could delete, move or replace it. */
function notText(path: WorkspacePath, bytes: Uint8Array): string {
  const next = isPdf(bytes)
    ? "Get its text with Bash, some pages at a time: pdftotext -layout -f 1 -l 5 FILE -"
    : "Only UTF-8 text can be read, and images that are PNG, JPEG, GIF or WebP.";
  return `${pathName(path)} is not a text file (${bytes.length} bytes); it can be deleted, moved or replaced. ${next}`;
}

function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1_024)).includes("%PDF-");
}

function withGrepHint(error: unknown): never {
  if (!(error instanceof ToolFailure) || error.code !== "too_large") throw error;
  throw new ToolFailure(error.code, error.message, {
    failureClass: error.failureClass,
    hint: "Use Grep to find the lines that matter.",
    cause: error,
  });
}

async function editorOutcome(
  ports: ReadPorts,
  path: WorkspacePath,
  file: FileRead,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const lines = countLines(file.content);
  // Editors count an empty line after the last line feed; an answer shorter than the limit shows where the text ends.
  const ended = lines < limit && !file.truncated;
  const shownUntil = offset - 1 + lines;
  const totalLines = ended ? shownUntil : Math.max(shownUntil, file.totalLines);
  const part: TextPart = { content: file.content, firstLine: offset, totalLines };
  const whole = offset === 1 && ended;
  const observed = await observedBase(ports.workspace, path, file, part, whole, signal);
  if (observed !== undefined) await keepSeen(ports, path, file, { whole, observed }, signal);
  const onDisk = offset === 1 ? undefined : await diskText(ports.workspace, path, signal);
  return outcomeOf(path, withoutKeys(part, onDisk?.text), observed, file.dirty);
}

/** Masking recognises a private key by its beginning, which may be above the part. */
function withoutKeys(part: TextPart, whole: string | undefined): TextPart {
  if (part.firstLine === 1 || whole === undefined) return part;
  return { ...part, content: withoutKeyLines(part.content, [whole]) };
}

/** Stores the text of the base, if available: the whole answer, or the file on disk that it is part of. */
async function keepSeen(
  { workspace, seen }: ReadPorts,
  path: WorkspacePath,
  file: FileRead,
  { whole, observed }: { readonly whole: boolean; readonly observed: ObservedFile },
  signal: AbortSignal,
): Promise<void> {
  if (seen === undefined || observed.sha256 === undefined) return;
  const bytes = whole ? encodeText(file.content, { bom: file.bom }) : (await diskText(workspace, path, signal))?.bytes;
  if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === observed.sha256) {
    seen.keep(observed.sha256, bytes);
  }
}

/** The base for later writes. A client that sends no hash is trusted only if the text itself confirms it. */
async function observedBase(
  workspace: Workspace,
  path: WorkspacePath,
  file: FileRead,
  part: TextPart,
  whole: boolean,
  signal: AbortSignal,
): Promise<ObservedFile | undefined> {
  const known = file.sha256 !== "" || file.dirty ? file.sha256 : file.diskSha256;
  if (known !== "") return { path: path.relative, source: file.dirty ? "buffer" : "disk", sha256: known };
  if (!file.dirty) {
    const onDisk = await diskText(workspace, path, signal);
    if (onDisk !== undefined) {
      const same = partOfText(onDisk.text, part.firstLine, countLines(part.content)).content === part.content;
      if (same) return { path: path.relative, source: "disk", sha256: onDisk.sha256 };
    }
  }
  if (!whole) return undefined;
  return { path: path.relative, source: "buffer", sha256: createHash("sha256").update(file.content).digest("hex") };
}

function outcomeOf(
  path: WorkspacePath,
  part: TextPart,
  observed: ObservedFile | undefined,
  unsaved = false,
): ToolOutcome {
  const { output, ...rest } = shownPart(pathName(path), part);
  return {
    ...rest,
    output: unsaved ? `${output}\n[unsaved changes in the editor]` : output,
    observed: observed === undefined ? [] : [{ ...observed, numbered: true }],
  };
}

function shownPart(name: string, part: TextPart): ToolOutcome {
  if (part.content === "" && part.firstLine > 1) {
    throw new ToolFailure("past_end", `${name} has no line ${part.firstLine}${lineCount(part)}.`, {
      hint: "Read it with a smaller offset.",
    });
  }
  const { text, truncated } = numberedLines(part);
  return { output: text, truncated };
}

function lineCount(part: TextPart): string {
  return part.totalLines > 0 && part.totalLines < part.firstLine ? `; it has ${part.totalLines}` : "";
}

/**
 * What `read` gives of a file; it also reports if commands of the session see another file, or see one where there is none:
 * ignored files stay in the session's layer. It does not give that content: file tools read the user's file, which may be edited.
 */
async function withLayerHint(
  path: WorkspacePath,
  { staging, root }: { readonly staging: Pick<Staging, "stages" | "session"> | undefined; readonly root: string },
  read: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (staging?.session === undefined) return read();
  const { stages, session } = staging;
  const isLayered = async (): Promise<boolean> => {
    const layer = await stages.layer(root, session);
    return layer?.entryAt(relative(layer.root.path, path.absolute)) !== undefined;
  };
  const name = pathName(path);
  const get = `read that with Bash (cat ${name}); the user gets it by: ${waysToKeep(name)}`;
  try {
    const outcome = await read();
    if (!(await isLayered())) return outcome;
    return { ...outcome, output: `${outcome.output}\n[commands of this session see another ${name}: ${get}]` };
  } catch (error) {
    if (!(error instanceof ToolFailure) || !(await isLayered())) throw error;
    const { code, failureClass, retryable } = error;
    throw new ToolFailure(code, `${error.message} A command of this session made it, and git ignores it.`, {
      failureClass,
      retryable,
      hint: `Only commands of this session see it: ${get}`,
      cause: error,
    });
  }
}
