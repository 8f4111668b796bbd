import { posix } from "node:path";

/** Maximum depth of imports, and maximum imports of one notes file. */
const maxDepth = 4;
const maxImports = 20;

export interface Imported {
  /** Relative to the workspace. */
  readonly file: string;
  readonly text: string;
}

/**
 * What a notes file imports with `@path`, as in Claude Code: relative to the file, or to the workspace with a leading slash.
 * Each file once, in order, nested imports after their importer.
 * @param read text of a workspace file; undefined if there is none or the agent may not read it
 */
export async function importsOf(
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
