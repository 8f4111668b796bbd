import { lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shownName } from "@gennai/governance/shown-names";
import { checkRootInPlace } from "../../workspace/paths/workspace-root.ts";
import type { CoveredRoot } from "../cover/covered-roots.ts";
import type { Covered } from "../cover/covered-tree.ts";
import { statIfPresent } from "../files/look-at-entry.ts";
import { overlayView } from "../files/stage-view.ts";
import type { MountKeeper, ShownPath } from "../keeper/mount-keeper.ts";
import type { SessionNetwork } from "../keeper/session-network.ts";
import { NotObservable } from "../transaction/stage-error.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { systemProgram } from "../transaction/system-program.ts";

/**
 * For a command that only reads: it sees the roots themselves, read-only, with something else in the place of what is hidden. Nothing
 * has to take what it writes, so nothing is mounted over them as a whole, and git finds every file in the kernel's caches. Throws
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
  // Git saves its index whenever it looks at the files, and there is no secret in it.
  const secrets = roots.flatMap(({ path: root }, index) => {
    const { hidden = [], copies } = covered[index] ?? {};
    return [...hidden, ...(copies?.keys() ?? [])].map((below) => {
      const path = join(root, below);
      return { path, identity: identityAt(path) };
    });
  });
  return {
    joinArguments: network === undefined ? [] : [systemProgram("nsenter"), ...network.joinArguments, "--"],
    // What is left of it for a moment can change nothing, and there is nothing to look at.
    isSeen: () => false,
    hasNetwork: network !== undefined,
    caches: [],
    mountCaches: async () => undefined,
    readOnly: { inPlace },
    markers: roots.map(() => 0n),
    merged: ({ path }) => path,
    settle: async () => {
      // What is mounted on a file is gone as soon as another one is renamed over that, as editors do.
      const saved = secrets.find(({ path, identity }) => identityAt(path) !== identity);
      if (saved !== undefined) {
        const why = "and may have been seen, so its output is not shown. Run it again.";
        throw new NotObservable(`${shownName(saved.path)} was saved while the command ran, ${why}`);
      }
    },
    // What the user removes meanwhile was not removed by the command.
    view: ({ path }) => ({ ...overlayView(path), goneIn: () => [] }),
    areThere: () => true,
    close: async () => undefined,
  };
}

/** Another one for another file, also where that got the number of the one before. */
function identityAt(path: string): string | undefined {
  const stat = statIfPresent(path);
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeNs}`;
}

/** More mounts take longer than one over everything. */
const mostInPlace = 100;

/** Whether roots can be seen so: a layer of a session lies over none of them, and to read takes nothing away from the user. */
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
      // Nothing can be mounted on a link; what it leads to is hidden by its own name.
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
