import { programNamed } from "@gennai/governance/programs/known-programs";
import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";
import type { Workspace } from "./workspace.ts";

/** Maximum words of a command that are examined, and files that are hashed; more than real commands have. */
const maxWords = 200;
const maxFiles = 40;
/** A larger file counts by its size alone: it is hardly a script. */
const maxBytes = 32 * 1024 * 1024;
const maxManifestBytes = 1024 * 1024;
/** Characters of a script of package.json that are shown. */
const maxScript = 2_000;

const packageSchema = z.object({ scripts: z.record(z.string(), z.unknown()).optional() });

/** Files that a program looks for in a directory that it is told to run. */
const entries = ["package.json", "index.js", "index.mjs", "index.cjs", "__main__.py", "__init__.py"];

/** Files that a command names as data, and changes. */
const data = /\.(?:db|db3|sqlite3?|duckdb|csv|tsv|parquet|log|txt|md|pdf|png|jpe?g)$/i;

type Files = Pick<Workspace, "resolve" | "stat" | "read">;

/**
 * What a command line is known to run: the text of the scripts of package.json that it leads to, and the SHA-256 of each
 * workspace file that the command or a script names. It is part of what a person accepts, so that a changed script counts as
 * another command. Files that those load in turn, and data files, are not included.
 *
 * @param command a shell command, or words with blanks between them
 * @param options.cwd where it runs, relative to the workspace; by default the workspace
 */
export async function whatRuns(
  workspace: Files,
  command: string,
  { cwd = "." }: { readonly cwd?: string | undefined } = {},
): Promise<Readonly<Record<string, string>>> {
  const at = (file: string): string => (cwd === "." || file.startsWith("/") ? file : `${cwd}/${file}`);
  const scripts = scriptsOf(await textOf(workspace, at("package.json")));
  const runs: Record<string, string> = {};
  const words = new Set(wordsOf(command).slice(0, maxWords));
  // A script may run others by their names.
  for (const word of words) {
    for (const name of [word, `pre${word}`, `post${word}`]) {
      const script = scripts.get(name);
      const key = `package.json ${name}`;
      if (script === undefined || key in runs) continue;
      runs[key] = script.slice(0, maxScript);
      for (const inner of wordsOf(script)) if (words.size < maxWords) words.add(inner);
    }
  }
  if (Object.keys(runs).length > 0) words.add(".npmrc");
  for (const word of [...words]) for (const file of programNamed(word)?.obeys?.split(" ") ?? []) words.add(file);
  let files = 0;
  for (const word of words) {
    if (data.test(word)) continue;
    const found = await digests(workspace, at(word));
    for (const [suffix, sha256] of found) {
      if (files >= maxFiles) return runs;
      runs[`${word}${suffix}`] = sha256;
      files += 1;
    }
  }
  return runs;
}

/** Everything in a command that may be a name: between blanks, quotes, operators and `=`. */
function wordsOf(text: string): readonly string[] {
  return text.split(/[\s"'`;&|()<>=,]+/).filter((word) => word !== "" && word.length <= 1_000);
}

/** Digests of a file, or of the files that a program would run in a directory. */
async function digests(
  workspace: Files,
  word: string,
): Promise<readonly (readonly [suffix: string, sha256: string])[]> {
  const whole = await digestOf(workspace, word);
  if (whole === undefined) return [];
  if (whole !== "directory") return [["", whole]];
  const found: (readonly [string, string])[] = [];
  for (const entry of entries) {
    const sha256 = await digestOf(workspace, `${word}/${entry}`);
    if (sha256 !== undefined && sha256 !== "directory") found.push([`/${entry}`, sha256]);
  }
  return found;
}

/** `directory` for a directory; undefined for a path outside of the workspace, and for the workspace itself. */
async function digestOf(workspace: Files, word: string): Promise<string | undefined> {
  try {
    const path = await workspace.resolve(word);
    if (!path.inside || path.relative === "") return undefined;
    const stat = await workspace.stat(path);
    if (stat?.kind === "directory") return "directory";
    if (stat?.kind !== "file") return undefined;
    if (stat.size > maxBytes) return `${stat.size} bytes`;
    return (await workspace.read(path, { maxBytes })).sha256;
  } catch {
    return undefined;
  }
}

async function textOf(workspace: Files, file: string): Promise<string> {
  try {
    const { bytes } = await workspace.read(await workspace.resolve(file), { maxBytes: maxManifestBytes });
    return new TextDecoder().decode(bytes);
  } catch {
    return "";
  }
}

function scriptsOf(manifest: string): ReadonlyMap<string, string> {
  const scripts = packageSchema.safeParse(parsedJson(manifest)).data?.scripts ?? {};
  return new Map(Object.entries(scripts).flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}
