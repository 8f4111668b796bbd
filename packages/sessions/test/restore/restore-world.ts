import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyChanges } from "@gennai/machine/workspace/apply-changes";
import { openWorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import { FileBlobStore } from "@gennai/store/sqlite/file-blob-store";
import { onTestFinished } from "vitest";
import { FileContents } from "#restore/file-contents";
import { filesIn } from "#restore/present-files";
import { planRestore } from "#restore/restore-plan";
import { writeRestore } from "#restore/write-restore";

export interface World {
  readonly root: string;
  readonly checkpoints: WorkspaceCheckpoints;
  /** Runs what an agent's command would, between two snapshots. */
  command(work: () => void): Promise<string>;
  /** With force and no paths: all that the commands changed, as a person names it. */
  restore(
    ids: readonly string[],
    options?: { readonly paths?: readonly string[]; readonly force?: boolean },
  ): Promise<{ readonly skipped: readonly { readonly path: string; readonly reason: string }[] }>;
}

/** A workspace that is not a repository yet, and what keeps its tree; both go after the test. */
export function world(): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gennai-checkpoints-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "workspace");
  const stateDir = join(base, "state");
  mkdirSync(root);
  mkdirSync(stateDir, { mode: 0o700 });
  const checkpoints = new WorkspaceCheckpoints({ stateDir, root });
  const options = { stateDir, home: join(base, "home") };
  const held = openWorkspaceRoot(root, options);
  const contents = new FileContents(new FileBlobStore(join(stateDir, "blobs")), checkpoints);
  return {
    root,
    checkpoints,
    command: async (work) => {
      const id = await checkpoints.open("session", new AbortController().signal);
      work();
      await checkpoints.close(id);
      return id;
    },
    restore: async (ids, { paths = [], force = false } = {}) => {
      const changes = (await Promise.all(ids.map((id) => checkpoints.changesOf(id)))).flatMap((each) => each ?? []);
      const named = force && paths.length === 0 ? changes.map(({ path }) => path) : paths;
      const plan = await planRestore(changes, contents, { files: filesIn(held), paths: named, force });
      await writeRestore(plan.restores, contents, {
        root,
        apply: (changes) => applyChanges(held, stateDir, changes, { readOnlyToo: true }),
        announce: async () => undefined,
      });
      return { skipped: plan.skipped };
    },
  };
}

export function git(root: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root, encoding: "utf8" });
}
