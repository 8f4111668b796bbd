import { dirname, relative } from "node:path";
import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import type { PutBackFile, ToolOutcome } from "@gennai/governance/tool";
import { errorMessage } from "@gennai/protocol/error-message";
import { entryAt } from "../../entry-at.ts";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import type { WorkspaceRoot } from "../../workspace/paths/workspace-root.ts";
import { type ChangeSurroundings, type ControlChange, isAgreed } from "../state/agreed-change.ts";
import { type ControlStates, type ControlTree, sameState } from "../state/control-state.ts";
import type { ControlTargets } from "../state/control-targets.ts";
import type { KeptBytes } from "../state/kept-bytes.ts";
import type { Aside } from "./aside.ts";
import { letOwnerIn } from "./let-owner-in.ts";
import { SetBack } from "./set-back.ts";

export interface ChangedTree {
  readonly root: string;
  /** The directory as it was opened when the command began. */
  readonly held: WorkspaceRoot;
  readonly tree: ControlTree;
  readonly before: ControlStates;
  /** Directories that could not be read before the command. */
  readonly unreadable: readonly string[];
  readonly untouchable: readonly string[];
  readonly targets: ControlTargets;
  readonly agreed: AgreedControl;
  readonly bytes: KeptBytes;
  readonly aside: Aside;
  /** Changes after this time are not the command's; milliseconds since the epoch. */
  readonly deadline: number;
  readonly index: Pick<ChangeSurroundings, "isTracked" | "isAsInIndex">;
}

export type PutBackFiles = NonNullable<ToolOutcome["putBack"]>;

/** Compares a tree's control files with their earlier states, and puts back changes that nobody agreed to. */
export function putBack(changed: ChangedTree): readonly PutBackFile[] {
  const { root, held, before, agreed, bytes, aside, deadline } = changed;
  const { states, unlisted } = lookIntoAll(changed);
  const after = new Map([...changed.tree.lookAt(changed.targets, changed.untouchable), ...states]);
  const changes = changesOf(changed, after).filter(({ path }) => changedBefore(deadline, path, root));
  const known = new Set([...before.values()].map((state) => (state.type === "file" ? state.sha256 : "")));
  const around: ChangeSurroundings = {
    root,
    ...changed.index,
    newRepositories: changes.flatMap(({ path, before: was }) =>
      was === undefined && path.endsWith("/.git") ? [path] : [],
    ),
    wasThere: (state) => state.type === "file" && known.has(state.sha256),
    text: (state) => (state?.type === "file" ? Buffer.from(bytes.read(state.sha256)).toString() : undefined),
  };
  const isFine = new Map(changes.map((change) => [change, isAgreed(change, agreed, around)]));
  const wrong = changes.filter((change) => isFine.get(change) !== true);
  const kept = changes.filter((change) => isFine.get(change) === true);
  const back = new SetBack(held, { bytes, aside });
  const done: PutBackFile[] = unlisted.map((path) => ({ path, what: "failed", reason: "it cannot be looked into" }));
  const gone: string[] = [];
  const emptied: string[] = [];
  for (const change of wrong.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    const { path, name, control, before: was } = change;
    if (gone.some((directory) => isWithin(path, directory))) continue;
    const isNew = was === undefined;
    const isMixed = control.level === "sensitive" || kept.some((other) => isWithin(other.path, path));
    if (isNew && change.after?.type === "directory" && isMixed) {
      emptied.unshift(path);
      continue;
    }
    try {
      const lying = back.to(path, was);
      if (isNew) gone.push(path);
      if (was?.type !== "directory" || lying !== "")
        done.push({ path: name, what: isNew ? "removed" : "restored", reason: `${control.what}${lying}` });
    } catch (error) {
      done.push({ path: name, what: "failed", reason: errorMessage(error) });
    }
  }
  for (const path of emptied) back.removeEmpty(path);
  return done;
}

/** Also opens directories that the command closed: files in them can still be obeyed by name. */
function lookIntoAll({
  root,
  held,
  tree,
  unreadable: closedBefore,
  untouchable,
}: ChangedTree): ReturnType<ControlTree["look"]> {
  const tried = new Set(closedBefore);
  for (;;) {
    const seen = tree.look(untouchable);
    const closed = seen.unreadable.filter((path) => !tried.has(path));
    if (closed.length === 0) return seen;
    for (const path of closed) {
      tried.add(path);
      letOwnerIn(held, path === root ? [] : relative(root, path).split("/"));
    }
  }
}

function changesOf({ root, tree, before, targets }: ChangedTree, after: ControlStates): readonly ControlChange[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].flatMap((path): ControlChange[] => {
    const change = { path, before: before.get(path), after: after.get(path) };
    if (sameState(change.before, change.after)) return [];
    const control = tree.controlOf(path, targets);
    return control === undefined ? [] : [{ ...change, name: relative(root, path), control, inGit: tree.inGit(path) }];
  });
}

/** Judged by the ctime of the file, or of the nearest existing directory above it. */
export function changedBefore(deadline: number, path: string, root: string): boolean {
  for (let at = path; isWithin(at, root); at = dirname(at)) {
    const stat = entryAt(at);
    if (stat !== undefined) return stat.ctimeMs <= deadline;
  }
  return true;
}

/** Text for the model, and for people who look at what the command did. */
export function describePutBack({ files, keptIn }: PutBackFiles): string {
  const back = files.filter(({ what }) => what !== "failed");
  const failed = files.filter(({ what }) => what === "failed");
  return [
    ...(back.length === 0 ? [] : [`put back, because nobody agreed to it: ${listed(back)}.`]),
    ...(failed.length === 0 ? [] : [`COULD NOT BE PUT BACK, so look at it before you go on: ${listed(failed)}.`]),
    ...(keptIn === "" ? [] : [`What the command left there lies in ${keptIn}.`]),
  ].join(" ");
}

/** What was put back of a command whose process was killed. */
export interface RecoveredCommand extends PutBackFiles {
  readonly workspaceRoot: string;
  /** Directory of the journal with the earlier states; set if not everything could be put back. */
  readonly knownIn?: string;
}

/** Text for the person who starts a server. */
export function describeRecovered({ workspaceRoot, knownIn, ...putBack }: RecoveredCommand): string {
  const known = knownIn === undefined ? "" : ` How it was before is kept in ${knownIn}.`;
  return `A command in ${workspaceRoot} was cut off: ${describePutBack(putBack)}${known}`;
}

function listed(files: readonly PutBackFile[]): string {
  const shown = files
    .slice(0, maxShown)
    .map(({ path, what, reason }) => `${path} (${what === "failed" ? "" : `${words[what]}: `}${reason})`);
  return `${shown.join(", ")}${files.length > maxShown ? `, and ${files.length - maxShown} more` : ""}`;
}

const maxShown = 20;
const words = { removed: "removed", restored: "as before" } as const;
