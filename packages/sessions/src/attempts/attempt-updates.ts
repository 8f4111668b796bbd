import { createHash } from "node:crypto";
import { ToolFailure } from "@gennai/governance/tool-error";
import { mergedText } from "@gennai/machine/changes/diff/three-way-diff";
import { ordinaryMode } from "@gennai/shell/proposal/staged-file";
import type { FileBytes, StagedTree, StagedUpdate } from "@gennai/shell/proposal/staged-tree";
import type { Attempt, AttemptChange } from "./attempt.ts";

type State = NonNullable<AttemptChange["before"]>;

/** Paths that are symbolic links, or replaced one: only regular files can be reviewed. */
export function leftOutOf({ changes }: Pick<Attempt, "changes">): readonly string[] {
  return changes
    .filter(({ before, after }) => before?.kind === "link" || after?.kind === "link")
    .map(({ path }) => path);
}

/**
 * The changes an attempt makes to a staged tree. If a file was staged after the attempt began, both changes are merged; throws
 * `ToolFailure` `stale_file` if they conflict. The tree itself detects changes in the workspace.
 *
 * @param now the workspace's current file at a path
 */
export async function attemptUpdates(
  tree: StagedTree,
  { attempt, contentOf }: { readonly attempt: Attempt; contentOf(sha256: string): Buffer },
  now: (path: string) => Promise<FileBytes | "unreadable" | undefined>,
): Promise<readonly StagedUpdate[]> {
  const leftOut = new Set(leftOutOf(attempt));
  const updates: StagedUpdate[] = [];
  for (const { path, before, after } of attempt.changes) {
    if (leftOut.has(path)) continue;
    const there = await now(path);
    const current = there === "unreadable" ? undefined : there;
    const bytes = (state: State | undefined) => (state === undefined ? undefined : contentOf(state.sha256));
    const known = tree.files.get(path);
    const staged = known === undefined ? undefined : known.staged;
    const mode = modeOf(before, after, current);
    let made = bytes(after);
    if (known !== undefined && (staged?.sha256 ?? undefined) !== before?.sha256) {
      const mine = staged === null || staged === undefined ? undefined : tree.content(staged.sha256);
      made = together(path, { base: bytes(before), mine, theirs: made });
    }
    updates.push({
      path,
      base: baseOf(bytes(before), before, current),
      staged: made === undefined ? undefined : { bytes: made, mode },
      command: "",
    });
  }
  return updates;
}

/** The file as the attempt found it; with the current permission bits, if the content is the same. */
function baseOf(bytes: Buffer | undefined, before: State | undefined, current: FileBytes | undefined) {
  if (bytes === undefined || before === undefined) return undefined;
  const isThere = current !== undefined && sha256(current.bytes) === before.sha256;
  return { bytes, mode: isThere ? current.mode : plainMode(before) };
}

/** Of the permission bits, git stores only whether a file is executable. */
function modeOf(before: State | undefined, after: State | undefined, current: FileBytes | undefined): number {
  if (after === undefined) return ordinaryMode;
  if (before === undefined || current === undefined || before.kind !== after.kind) return plainMode(after);
  return current.mode;
}

function plainMode({ kind }: State): number {
  return kind === "executable" ? 0o755 : ordinaryMode;
}

function together(
  path: string,
  contents: Readonly<Record<"base" | "mine" | "theirs", Buffer | undefined>>,
): Buffer | undefined {
  const [base, mine, theirs] = [contents.base, contents.mine, contents.theirs].map((bytes) => bytes?.toString("utf8"));
  if (mine === theirs) return contents.mine;
  const isText = [contents.base, contents.mine, contents.theirs].every(
    (bytes) => bytes !== undefined && !bytes.includes(0) && Buffer.from(bytes.toString("utf8")).equals(bytes),
  );
  const text =
    isText && base !== undefined && mine !== undefined && theirs !== undefined
      ? mergedText({ base, mine, theirs })
      : undefined;
  if (text !== undefined) return Buffer.from(text);
  throw new ToolFailure("stale_file", `${path} is staged in this session by now, and the attempt changed the same.`, {
    hint: "Keep or refuse what is proposed first, or make the attempts again.",
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
