import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shownName } from "@gennai/governance/shown-names";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { overlayView } from "@gennai/machine/entries/stage-view";
import { checkRootInPlace } from "@gennai/machine/workspace/paths/workspace-root";
import type { CoveredRoot } from "../cover/covered-roots.ts";
import type { Covered } from "../cover/covered-tree.ts";
import { NotObservable } from "../transaction/stage-error.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { systemProgram } from "../transaction/system-program.ts";
import type { MountKeeper, ShownPath } from "./mount-keeper.ts";
import type { SessionNetwork } from "./session-network.ts";

/**
 * The mounts for a command that only reads: it sees the roots themselves, read-only, with something else in place of hidden
 * entries. As it writes nothing, no root needs an overlay, and git finds every file in the kernel's caches. Throws
 * `workspace_replaced`.
 *
 * @param covered by root
 */
export function rootsThemselves(
  roots: readonly StagedRoot[],
  covered: readonly Covered[],
  network: SessionNetwork | undefined,
): MountKeeper {
  for (const root of roots) checkRootInPlace(root);
  const inPlace = roots.flatMap((root, index) => shownIn(root, covered[index]));
  // Git's index is not among these: git saves it whenever it looks at files, and it contains no secret.
  const secrets = roots.flatMap(({ path: root }, index) => {
    const { hidden = [], copies } = covered[index] ?? {};
    return [...hidden, ...(copies?.keys() ?? [])].map((below) => {
      const path = join(root, below);
      return { path, identity: identityAt(path) };
    });
  });
  return {
    joinArguments: network === undefined ? [] : [systemProgram("nsenter"), ...network.joinArguments, "--"],
    // A process that is left for a moment can change nothing, and no changes are looked for.
    isSeen: () => false,
    hasNetwork: network !== undefined,
    caches: [],
    mountCaches: async () => undefined,
    readOnly: { inPlace },
    markers: roots.map(() => 0n),
    merged: ({ path }) => path,
    settle: async () => {
      // A mount on a file is gone as soon as another file is renamed over it, as editors do.
      const saved = secrets.find(({ path, identity }) => identityAt(path) !== identity);
      if (saved !== undefined) {
        const why = "and may have been seen, so its output is not shown. Run it again.";
        throw new NotObservable(`${shownName(saved.path)} was saved while the command ran, ${why}`);
      }
    },
    // An entry that is gone was removed by the user meanwhile, not by the command.
    view: ({ path }) => ({ ...overlayView(path), goneIn: () => [] }),
    areThere: () => true,
    close: async () => undefined,
  };
}

/** Identifies a file by more than its inode, because a new file can get the inode of the removed one. */
function identityAt(path: string): string | undefined {
  const stat = statIfPresent(path);
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeNs}`;
}

/** Beyond this number, single mounts take longer than one overlay over everything. */
const mostInPlace = 100;

/**
 * Whether roots can be seen directly: no session's layer lies over them, and they hold no pipes, from which reading takes bytes
 * away.
 */
export function canBeSeen(roots: readonly CoveredRoot[]): boolean {
  const count = roots.reduce((sum, { covered: { hidden, copies } }) => sum + hidden.length + copies.size, 0);
  return (
    count <= mostInPlace && roots.every(({ layer, covered }) => layer === undefined && covered.holdsSpecial !== true)
  );
}

function shownIn(root: StagedRoot, covered: Covered | undefined): readonly ShownPath[] {
  if (covered === undefined) throw new Error("A root is not covered.");
  const { hidden, copies, index } = covered;
  const mask = join(root.directory, stageParts.mask);
  const empty = join(mask, "empty");
  mkdirSync(empty, { recursive: true, mode: 0o700 });
  const written = [...copies, ...(index === undefined ? [] : [[index.path, index.bytes] as const])];
  return [
    ...hidden.flatMap((path): readonly ShownPath[] => {
      const stat = lstatSync(join(root.path, path), { throwIfNoEntry: false });
      // Nothing can be mounted on a link; its target is hidden under its own name.
      if (stat === undefined || stat.isSymbolicLink()) return [];
      return [{ path: join(root.path, path), source: stat.isDirectory() ? empty : "/dev/null" }];
    }),
    ...written.map(([path, bytes], at) => {
      const source = join(mask, String(at));
      writeFileSync(source, bytes, { mode: 0o600 });
      return { path: join(root.path, path), source };
    }),
  ];
}
