import { join } from "node:path";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { WorkspacePath } from "@gennai/governance/effect";
import { removeEmptyDirectories } from "@gennai/machine/change-set/made-directories";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { FileContents } from "./file-contents.ts";
import { type PresentFile, placeLink, removeLargeFile, removeLink } from "./present-files.ts";
import type { PlannedRestore } from "./restore-plan.ts";

/** Maximum bytes written in one atomic step. */
const maxStepBytes = 256 * 1024 * 1024;

export interface WrittenRestore {
  readonly files: readonly FileChangeRecord[];
  readonly skipped: readonly SkippedFile[];
}

/**
 * Writes a plan: files in atomic steps through the workspace, each checked against the bytes that the plan was based on; links
 * and large files one by one. Rejects with `ToolFailure` if a file changed meanwhile, and with `CheckpointError` `not_kept`.
 */
export async function writeRestore(
  plan: readonly PlannedRestore[],
  contents: FileContents,
  place: {
    readonly workspace: Workspace;
    readonly root: WorkspaceRoot;
    /** Called with the changes before anything is written; if it rejects, nothing is written. */
    readonly announce: (files: readonly FileChangeRecord[]) => Promise<void>;
  },
): Promise<WrittenRestore> {
  const { workspace, root, announce } = place;
  const bytes = await targetBytes(plan, contents);
  await announce(plan.map((each) => recordOf(each, bytes.get(each))));
  const written = new Set(plan);
  for (const each of plan) {
    const { path, present } = each;
    const isLarge = present.state.type === "file" && present.bytes === undefined;
    if (present.state.type !== "link" && !isLarge) continue;
    const isRemoved =
      present.bytes === undefined
        ? await removeLargeFile(root, path, digestOf(present) ?? "")
        : removeLink(root, path, present.bytes);
    if (!isRemoved) written.delete(each);
    else if (each.target.type === "absent") removeEmptyDirectories(root, parentsOf([path]));
  }
  const changes = [...written].flatMap((each) => changeOf(each, root, bytes));
  for (const step of stepsOf(changes)) {
    await workspace.apply(step, { readOnlyToo: true });
    const gone = step.filter(({ operation }) => operation === "delete").map(({ path }) => path.relative);
    removeEmptyDirectories(root, parentsOf(gone));
  }
  for (const each of written) {
    const target = bytes.get(each);
    if (each.target.type === "link" && target !== undefined && !placeLink(root, each.path, target))
      written.delete(each);
  }
  return {
    files: [...written].map((each) => recordOf(each, bytes.get(each))),
    skipped: plan.filter((each) => !written.has(each)).map(({ path }) => ({ path, reason: "not_restored" as const })),
  };
}

/** A plan's change, as shown to the user. */
export function recordOf({ path, present, target }: PlannedRestore, bytes: Uint8Array | undefined): FileChangeRecord {
  const { state } = present;
  const before = digestOf(present);
  return {
    path,
    operation: before === undefined ? "create" : target.type === "absent" ? "delete" : "update",
    ...(before === undefined ? {} : { beforeSha256: before }),
    ...(state.type === "file" && state.mode !== undefined ? { beforeMode: state.mode } : {}),
    ...(state.type === "link" ? { beforeLink: true } : {}),
    ...(bytes === undefined ? {} : { afterSha256: sha256(bytes) }),
    ...(target.type === "file" && target.mode !== undefined ? { afterMode: target.mode } : {}),
    ...(target.type === "link" ? { afterLink: true } : {}),
  };
}

/** SHA-256 of a file's content or a link's target; undefined if nothing is there. */
function digestOf({ state }: PresentFile): string | undefined {
  return "sha256" in state ? state.sha256 : undefined;
}

async function targetBytes(
  plan: readonly PlannedRestore[],
  contents: FileContents,
): Promise<ReadonlyMap<PlannedRestore, Uint8Array>> {
  const found = new Map<PlannedRestore, Uint8Array>();
  for (let at = 0; at < plan.length; at += 500) {
    const part = plan.slice(at, at + 500).flatMap((each) => {
      const { target } = each;
      return target.type === "absent" ? [] : [{ each, target }];
    });
    const read = await contents.read(part.map(({ target }) => target));
    for (const [index, { each }] of part.entries()) {
      const bytes = read[index];
      if (bytes !== undefined) found.set(each, bytes);
    }
  }
  return found;
}

function changeOf(
  each: PlannedRestore,
  root: WorkspaceRoot,
  bytes: ReadonlyMap<PlannedRestore, Uint8Array>,
): readonly WorkspaceChange[] {
  const { path: relative, present, target } = each;
  const path: WorkspacePath = { raw: relative, relative, absolute: join(root.path, relative), inside: true };
  const content = target.type === "file" ? bytes.get(each) : undefined;
  const mode = target.type === "file" && target.mode !== undefined ? { mode: target.mode } : {};
  // A link or a large file was removed before.
  const baseSha256 = present.state.type === "file" && present.bytes !== undefined ? digestOf(present) : undefined;
  if (content === undefined) return baseSha256 === undefined ? [] : [{ operation: "delete", path, baseSha256 }];
  if (baseSha256 === undefined) return [{ operation: "create", path, bytes: content, ...mode }];
  return [{ operation: "update", path, bytes: content, baseSha256, ...mode }];
}

/** One step, unless a file must make way for a directory or the reverse, or the step would be too large. */
function stepsOf(changes: readonly WorkspaceChange[]): readonly (readonly WorkspaceChange[])[] {
  const deletes = changes.filter(({ operation }) => operation === "delete");
  const others = changes.filter(({ operation }) => operation !== "delete");
  const gone = new Set(deletes.map(({ path }) => path.relative));
  const made = new Set(others.map(({ path }) => path.relative));
  const inTheWay =
    parentsOf([...made]).some((path) => gone.has(path)) || parentsOf([...gone]).some((path) => made.has(path));
  const steps: WorkspaceChange[][] = inTheWay ? [deletes, []] : [[...deletes]];
  let size = 0;
  for (const change of others) {
    size += change.operation === "delete" ? 0 : change.bytes.length;
    if (size > maxStepBytes) {
      steps.push([]);
      size = 0;
    }
    steps.at(-1)?.push(change);
  }
  return steps.filter((step) => step.length > 0);
}

/** Every directory above these paths, outermost first. */
function parentsOf(paths: readonly string[]): readonly string[] {
  const parents = new Set<string>();
  for (const path of paths) {
    const components = path.split("/");
    for (let depth = 1; depth < components.length; depth += 1) parents.add(components.slice(0, depth).join("/"));
  }
  return [...parents].sort((one, other) => one.length - other.length);
}
