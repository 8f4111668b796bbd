import { join, posix } from "node:path";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import type { Redactor } from "@gennai/governance/redaction";
import { readUserFile } from "@gennai/machine/config/user-file";
import { systemErrorCode } from "@gennai/machine/system-error";
import { visibleText } from "@gennai/machine/web/visible-text";
import { readControlFile, UnreadableFile } from "@gennai/machine/workspace/files/read-control-file";
import { errorMessage } from "@gennai/protocol/error-message";

/** Names of notes for agents, in the workspace's root or any directory. The first non-empty one is shown first. */
export const projectNoteFiles = ["AGENTS.override.md", "AGENTS.md", "AGENT.md", "CLAUDE.md"] as const;

/** In one directory, the first replaces the second. */
const [overriding, overridden] = projectNoteFiles;

/** Other places of such files, next to the intents. They apply to the whole workspace too. */

/** The project's notes, relative to the workspace, in the order in which they are read. */
export const projectNotePaths = [
  ...projectNoteFiles,
  ...projectNoteFiles.map((name) => `${ledgerDirectory}/${name}` as const),
] as const;

const maxBytes = 64 * 1024;
/** Maximum characters of all notes together. */
const maxAll = 160 * 1024;
/** Maximum directories whose own notes are read. */
const maxDirectories = 50;

export interface ProjectNotes {
  /** For the model, redacted, each under its title. */
  readonly texts: readonly string[];
  /** Files that exist but were left out: file and reason. */
  readonly warnings: readonly string[];
}

export interface NotesOptions {
  /** Directory of the user's own notes for all projects, under the same names. */
  readonly userDirectory?: string;
  /** Files being worked on, relative to the workspace: notes in directories above them apply too. */
  readonly workedOn?: Iterable<string>;
  /** Whether the agent may read a workspace file; without it, all are readable. */
  readonly mayRead?: (path: string) => Promise<boolean>;
}

interface Note {
  readonly title: string;
  readonly text: string;
}

/**
 * Reads the notes for agents, from the most general to the most specific: the user's own, the project's, and those of
 * directories being worked in. A text that occurs twice in one place comes once; imports with `@path` follow their file.
 * @param root real path of the workspace
 */
export async function readProjectNotes(
  root: string,
  redactor: Redactor,
  options: NotesOptions = {},
): Promise<ProjectNotes> {
  const warnings: string[] = [];
  const notes: Note[] = [];
  if (options.userDirectory !== undefined) notes.push(...(await userNotes(options.userDirectory, warnings)));
  for (const directory of new Set(["", ledgerDirectory, ...directoriesAbove(options.workedOn ?? [])])) {
    notes.push(...(await notesIn(root, directory, options, warnings)));
  }
  let left = maxAll;
  const parts: string[] = [];
  for (const { title, text } of notes) {
    const part = `## ${title}\n\n${text}`;
    if (part.length > left) {
      warnings.push(`${title}: all notes together are larger than ${maxAll / 1024} KiB; it is not part of the prompt`);
      continue;
    }
    left -= part.length;
    parts.push(part);
  }
  return { texts: await Promise.all(parts.map((part) => redactor.redact(part))), warnings };
}

async function userNotes(directory: string, warnings: string[]): Promise<readonly Note[]> {
  const texts = new Map<string, string[]>();
  for (const file of projectNoteFiles) {
    if (file === overridden && [...texts.values()].flat().includes(overriding)) continue;
    try {
      const text = visibleText((await readUserFile(join(directory, file))) ?? "").trim();
      if (text.length > maxBytes) warnings.push(`${file} of the user: is larger than ${maxBytes / 1024} KiB; split it`);
      else if (text !== "") texts.set(text, [...(texts.get(text) ?? []), file]);
    } catch (error) {
      warnings.push(`${errorMessage(error)}; it is not part of the prompt`);
    }
  }
  return [...texts].map(([text, files]) => ({ title: `${files.join(", ")} of the user, for all projects`, text }));
}

async function notesIn(
  root: string,
  directory: string,
  { mayRead }: NotesOptions,
  warnings: string[],
): Promise<readonly Note[]> {
  const texts = new Map<string, string[]>();
  const imported = new Map<string, string>();
  for (const name of projectNoteFiles) {
    if (name === overridden && [...texts.values()].flat().some((file) => file.endsWith(overriding))) continue;
    const file = directory === "" ? name : `${directory}/${name}`;
    try {
      const text = visibleText(await readControlFile(root, file, maxBytes)).trim();
      if (text === "") continue;
      if (mayRead !== undefined && !(await mayRead(file))) {
        warnings.push(`${file}: the rules do not let the agent read it; it is not part of the prompt`);
        continue;
      }
      texts.set(text, [...(texts.get(text) ?? []), file]);
      const found = await importsOf(file, text, (target) => importedText(root, target, mayRead, warnings));
      for (const each of found) if (!texts.has(each.text)) imported.set(each.file, each.text);
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") continue;
      const why =
        error instanceof UnreadableFile ? error.message : `${file}: cannot be read (${code ?? "unknown error"})`;
      warnings.push(`${why}; it is not part of the prompt`);
    }
  }
  const scope = directory === "" || directory === ledgerDirectory ? "" : ` (for files below ${directory})`;
  return [
    ...[...texts].map(([text, files]) => ({ title: `${files.join(", ")}${scope}`, text })),
    ...[...imported].map(([file, text]) => ({ title: `${file} (imported)${scope}`, text })),
  ];
}

/** `@name` may be a person or a package: a missing file is no error. */
async function importedText(
  root: string,
  file: string,
  mayRead: NotesOptions["mayRead"],
  warnings: string[],
): Promise<string | undefined> {
  try {
    const text = await readControlFile(root, file, maxBytes);
    if (mayRead !== undefined && !(await mayRead(file))) {
      warnings.push(`${file}: is imported by notes, and the rules do not let the agent read it`);
      return undefined;
    }
    return visibleText(text).trim();
  } catch (error) {
    if (error instanceof UnreadableFile && !error.message.endsWith("is no regular file")) {
      warnings.push(`${error.message}; notes import it, and it is not part of the prompt`);
    }
    return undefined;
  }
}

/** Directories above these files, without the root, outer ones first. */
function directoriesAbove(files: Iterable<string>): readonly string[] {
  const directories = new Set<string>();
  for (const file of files) {
    const names = file.split("/").slice(0, -1);
    for (const [index] of names.entries()) directories.add(names.slice(0, index + 1).join("/"));
  }
  const inOrder = [...directories].sort();
  return inOrder.slice(0, maxDirectories);
}

/** Maximum depth of imports, and maximum imports of one notes file. */
const maxDepth = 4;
const maxImports = 20;

interface Imported {
  /** Relative to the workspace. */
  readonly file: string;
  readonly text: string;
}

/**
 * What a notes file imports with `@path`, as in Claude Code: relative to the file, or to the workspace with a leading slash.
 * Each file once, in order, nested imports after their importer.
 * @param read text of a workspace file; undefined if there is none or the agent may not read it
 */
async function importsOf(
  file: string,
  text: string,
  read: (file: string) => Promise<string | undefined>,
): Promise<readonly Imported[]> {
  const seen = new Set([file]);
  const found: Imported[] = [];
  const follow = async (from: string, words: string, depth: number): Promise<void> => {
    for (const path of importedPaths(words)) {
      const target = targetOf(from, path);
      if (target === undefined || seen.has(target) || found.length >= maxImports) continue;
      seen.add(target);
      const content = await read(target);
      if (content === undefined) continue;
      found.push({ file: target, text: content });
      if (depth < maxDepth) await follow(target, content, depth + 1);
    }
  };
  await follow(file, text, 1);
  return found;
}

/** Code is quoted, so it imports nothing. */
function importedPaths(text: string): readonly string[] {
  const plain = text
    .replaceAll(/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm, "")
    .replaceAll(/`[^`\n]*`/g, "");
  return [...plain.matchAll(/(?<=^|\s)@((?:\.{1,2}\/|\/)?[\p{L}\p{N}_.][\p{L}\p{N}_./+-]*)/gu)].map(([, path = ""]) =>
    path.replace(/[.:]+$/, ""),
  );
}

/** Undefined if it leads out of the workspace. */
function targetOf(from: string, path: string): string | undefined {
  const joined = path.startsWith("/")
    ? posix.normalize(path.slice(1))
    : posix.normalize(posix.join(posix.dirname(from), path));
  return joined === "." || joined === ".." || joined.startsWith("../") ? undefined : joined;
}
