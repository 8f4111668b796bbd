import { join } from "node:path";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { WorkspacePath } from "@gennai/governance/effect";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { FileContents } from "./file-contents.ts";
import type { PresentFile } from "./present-files.ts";
import type { PlannedRestore } from "./restore-plan.ts";

/**
 * Writes a plan in one atomic step, or in two where a directory and a file change places, each entry checked against what the plan
 * was based on. Rejects with `ToolFailure` if one changed meanwhile, and with `CheckpointError` `not_kept`.
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
): Promise<readonly FileChangeRecord[]> {
  const { workspace, root, announce } = place;
  const bytes = await targetBytes(plan, contents);
  const files = plan.map((each) => recordOf(each, bytes.get(each)));
  await announce(files);
  const changes = plan.map((each) => changeOf(each, root, bytes.get(each)));
  for (const step of stepsOf(changes)) await workspace.apply(step, { readOnlyToo: true });
  return files;
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

function changeOf(each: PlannedRestore, root: WorkspaceRoot, bytes: Uint8Array | undefined): WorkspaceChange {
  const { path: relative, present, target } = each;
  const path: WorkspacePath = { raw: relative, relative, absolute: join(root.path, relative), inside: true };
  const baseSha256 = digestOf(present);
  const base = { baseSha256: baseSha256 ?? "", isBaseLink: present.state.type === "link" };
  if (bytes === undefined) return { operation: "delete", path, ...base, emptied: parentsOf([relative]) };
  const mode = target.type === "file" && target.mode !== undefined ? { mode: target.mode } : {};
  const made = { path, bytes, isLink: target.type === "link", ...mode };
  return baseSha256 === undefined ? { operation: "create", ...made } : { operation: "update", ...made, ...base };
}

/** One step, unless a file must make way for a directory or the reverse. */
function stepsOf(changes: readonly WorkspaceChange[]): readonly (readonly WorkspaceChange[])[] {
  const deletes = changes.filter(({ operation }) => operation === "delete");
  const others = changes.filter(({ operation }) => operation !== "delete");
  const gone = new Set(deletes.map(({ path }) => path.relative));
  const made = new Set(others.map(({ path }) => path.relative));
  const inTheWay =
    parentsOf([...made]).some((path) => gone.has(path)) || parentsOf([...gone]).some((path) => made.has(path));
  return inTheWay ? [deletes, others] : [changes];
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
