import { createHash } from "node:crypto";
import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { utf8Text } from "@gennai/protocol/diff/utf8-text";
import { isWithin } from "@gennai/protocol/is-within";

/** A file as its editor has it, and as it would be saved. */
export interface EditorFile {
  /** With the file's own line ends, without its byte order mark. */
  readonly text: string;
  readonly eol: "lf" | "crlf";
  readonly bom: boolean;
  /** Of the bytes that would be saved. */
  readonly sha256: string;
  /** Empty: there is no such file. */
  readonly diskSha256: string;
  /** The editor itself gave the mark, so it wants it back. */
  readonly givesMark: boolean;
}

const mark = "\uFEFF";

/**
 * What an editor gave, beside what is on disk. Editors keep line feeds in memory and bring line ends and the mark back when they
 * save: a text that differs in nothing else is the disk's.
 */
export function editorFile(given: string, disk: Uint8Array | undefined): EditorFile {
  const saved = disk === undefined ? undefined : utf8Text(disk);
  const givesMark = given.startsWith(mark);
  const diskSha256 = disk === undefined ? "" : sha256(disk);
  if (saved !== undefined && disk !== undefined && plain(given) === plain(saved)) {
    return {
      text: withoutMark(saved),
      eol: endOfLine(saved),
      bom: saved.startsWith(mark),
      sha256: diskSha256,
      diskSha256,
      givesMark,
    };
  }
  const bom = givesMark || saved?.startsWith(mark) === true;
  const eol = saved !== undefined && /\n/.test(saved) ? endOfLine(saved) : endOfLine(given);
  // One that keeps carriage returns by itself says which lines have them.
  const text = eol === "crlf" && !given.includes("\r\n") ? withCarriageReturns(withoutMark(given)) : withoutMark(given);
  return { text, eol: endOfLine(text), bom, sha256: sha256(bom ? mark + text : text), diskSha256, givesMark };
}

/** The text to hand to an editor for a file that it had so, and the digest of what it then would save. */
export function writtenFile(content: string, before: Pick<EditorFile, "eol" | "bom" | "givesMark"> | undefined) {
  const text = before?.eol === "crlf" && !content.includes("\r\n") ? withCarriageReturns(content) : content;
  const marked = mark + text;
  return { text: before?.givesMark === true ? marked : text, sha256: sha256(before?.bom === true ? marked : text) };
}

/** Content of a file; undefined if it does not exist. */
export async function diskBytes(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * The path of a file that the server names. Throws for one outside of the workspace, also by a link: an editor reads and writes
 * where the link leads.
 * @param workingDir absolute, real
 */
export async function pathInWorkspace(name: string, workingDir: string): Promise<string> {
  const path = resolve(workingDir, name);
  if (isWithin(path, { directory: workingDir }) && isWithin(await realPlace(path), { directory: workingDir }))
    return path;
  throw new Error(`${name} is outside of the workspace.`);
}

/** Where a path leads, of which the last parts may not be there yet. Throws for a link that leads nowhere. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if ((await lstat(path).catch(() => undefined)) !== undefined)
    throw new Error(`${path} is a link that leads nowhere.`);
  const parent = dirname(path);
  return join(await realPlace(parent), relative(parent, path));
}

function plain(text: string): string {
  return withoutMark(text).replaceAll("\r\n", "\n");
}

function withoutMark(text: string): string {
  return text.startsWith(mark) ? text.slice(1) : text;
}

function withCarriageReturns(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function endOfLine(text: string): "lf" | "crlf" {
  return text.includes("\r\n") ? "crlf" : "lf";
}

function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
