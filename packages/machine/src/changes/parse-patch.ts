import { ToolFailure } from "@gennai/governance/tool-error";

/** One file of a patch. */
export type PatchedFile =
  | { readonly operation: "add"; readonly path: string; readonly content: string }
  | { readonly operation: "delete"; readonly path: string }
  | {
      readonly operation: "update";
      readonly path: string;
      readonly moveTo: string | undefined;
      /** In the order of the file; can be empty if the file only moves. */
      readonly hunks: readonly PatchHunk[];
    };

export interface PatchHunk {
  /** Lines after `@@`: each is searched after the one before, and the hunk after the last. */
  readonly sections: readonly string[];
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** True if the old lines are the last ones of the file. */
  readonly endOfFile: boolean;
}

const begin = "*** Begin Patch";
const end = "*** End Patch";
const endOfFile = "*** End of File";
/** Limits, because each is searched in the whole file. */
const most = { hunksOfFile: 200, sectionsOfHunk: 20 } as const;

/** Reads a patch in the format of OpenAI's `apply_patch`. Throws `ToolFailure` `bad_patch`, with the line that does not fit. */
export function parsePatch(patch: string): readonly PatchedFile[] {
  const lines = patchLines(patch);
  const files: PatchedFile[] = [];
  let at = 0;
  const fail = (problem: string): never => {
    throw badPatch(`Line ${at + 2} of the patch: ${problem}`);
  };
  const headed = (head: string) => {
    const line = lines[at];
    if (line?.startsWith(head) !== true) return undefined;
    const path = line.slice(head.length).trim();
    if (path === "") fail("the path is missing.");
    at += 1;
    return path;
  };
  const taken = (isPart: (line: string) => boolean) => {
    const start = at;
    while (at < lines.length && isPart(lines[at] ?? "")) at += 1;
    return lines.slice(start, at);
  };
  const hunk = (isFirst: boolean): PatchHunk => {
    const sections = taken((line) => line.startsWith("@@")).map((line) => line.slice(2).trim());
    if (sections.length === 0 && !isFirst) fail("a hunk begins with @@.");
    if (sections.length > most.sectionsOfHunk) fail(`a hunk has more than ${most.sectionsOfHunk} lines with @@.`);
    const body = taken((line) => line === "" || /^[ +-]/.test(line));
    if (body.length === 0) fail("a line of a hunk begins with a space, + or -.");
    const isEnd = lines[at]?.trim() === endOfFile;
    if (isEnd) at += 1;
    // Empty lines between two files, or before the end, do not belong to the hunk.
    while (!isEnd && body.at(-1) === "" && (at === lines.length || lines[at]?.startsWith("*** ") === true)) body.pop();
    return {
      sections: sections.filter((section) => section !== "" && !/^-\d+(?:,\d+)? \+\d+/.test(section)),
      oldLines: body.filter((line) => !line.startsWith("+")).map((line) => line.slice(1)),
      newLines: body.filter((line) => !line.startsWith("-")).map((line) => line.slice(1)),
      endOfFile: isEnd,
    };
  };
  while (at < lines.length) {
    if (lines[at]?.trim() === "") {
      at += 1;
      continue;
    }
    const added = headed("*** Add File: ");
    const deleted = added === undefined ? headed("*** Delete File: ") : undefined;
    const path = added === undefined && deleted === undefined ? headed("*** Update File: ") : undefined;
    if (added !== undefined) {
      const content = taken((line) => line.startsWith("+")).map((line) => `${line.slice(1)}\n`);
      files.push({ operation: "add", path: added, content: content.join("") });
    } else if (deleted !== undefined) files.push({ operation: "delete", path: deleted });
    else if (path !== undefined) {
      const moveTo = headed("*** Move to: ");
      const hunks: PatchHunk[] = [];
      while (at < lines.length && lines[at]?.startsWith("*** ") !== true) {
        if (hunks.length === most.hunksOfFile)
          fail(`${path} has more than ${most.hunksOfFile} hunks; change it by several patches.`);
        hunks.push(hunk(hunks.length === 0));
      }
      if (hunks.length > 0 && hunks.every(changesNothing)) fail(`${path} changes nothing: no line begins with + or -.`);
      if (hunks.length === 0 && moveTo === undefined) fail(`${path} is to be updated, and there is no hunk.`);
      files.push({ operation: "update", path, moveTo, hunks });
    } else fail('"*** Add File: ", "*** Update File: " or "*** Delete File: " is expected.');
  }
  if (files.length === 0) throw badPatch("The patch names no file.");
  return files;
}

/** Only the place of what follows: the next hunk is searched behind it. */
export function changesNothing({ oldLines, newLines }: PatchHunk): boolean {
  return oldLines.length === newLines.length && oldLines.every((line, at) => line === newLines[at]);
}

/** The lines between the patch marks, also of a patch that is quoted for a shell. */
function patchLines(patch: string): readonly string[] {
  const lines = patch.replaceAll("\r\n", "\n").split("\n");
  const first = lines.findIndex((line) => line.trim() === begin);
  const last = lines.findLastIndex((line) => line.trim() === end);
  if (first === -1) throw badPatch(`The patch has no line "${begin}".`);
  if (last < first) throw badPatch(`The patch has no line "${end}": it may be cut off.`);
  const around = [...lines.slice(0, first), ...lines.slice(last + 1)].filter((line) => line.trim() !== "");
  const quoted = around.every((line) =>
    /^\s*(?:apply_patch\s*)?<<-?\s*['"]?\w+['"]?\s*$|^\s*['"]?\w+['"]?\s*$/.test(line),
  );
  if (!quoted) throw badPatch(`There is text around the patch; it goes from "${begin}" to "${end}".`);
  return lines.slice(first + 1, last);
}

function badPatch(message: string): ToolFailure {
  return new ToolFailure("bad_patch", message, {
    hint: "Between the two marks stand Add File, Update File and Delete File. Each line of a hunk begins with a space, + or -.",
    retryable: true,
  });
}
