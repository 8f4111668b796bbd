import { UnreadableHookInput } from "./guarded-host.ts";

/** A file that a patch names. */
export interface PatchedFile {
  readonly path: string;
  readonly operation: "write" | "delete";
  /** Lines that come in. */
  readonly content: string;
}

const header = /^\s*\*\*\* (Add File|Update File|Delete File|Move to): (.*)$/;

/**
 * Files that a patch of the form `*** Begin Patch` would change, without duplicates, in order. Anything that looks like a file
 * name counts, also in the middle of a hunk: better one too many than one not judged. Throws `UnreadableHookInput` if it names
 * none.
 */
export function patchedFiles(patch: string): readonly PatchedFile[] {
  const files = new Map<string, { operation: PatchedFile["operation"]; readonly lines: string[] }>();
  let current: { operation: PatchedFile["operation"]; readonly lines: string[] } | undefined;
  for (const line of patch.split(/\r\n|\n|\r/)) {
    const [, kind, path = ""] = header.exec(line) ?? [];
    if (kind === undefined) {
      if (line.startsWith("+")) current?.lines.push(line.slice(1));
      continue;
    }
    // A moved file is deleted at its old place.
    if (kind === "Move to" && current !== undefined) current.operation = "delete";
    current = files.get(path) ?? { operation: kind === "Delete File" ? "delete" : "write", lines: [] };
    files.set(path, current);
  }
  if (files.size === 0) throw new UnreadableHookInput("This patch names no file.");
  return [...files].map(([path, { operation, lines }]) => ({ path, operation, content: lines.join("\n") }));
}
