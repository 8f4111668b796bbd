import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerRuns, thisOwner } from "@gennai/machine/process/locks/journal-owner";

/** What this server's sandboxes keep on disk; disposing removes it. */
export interface SandboxFiles extends Disposable {
  /** An empty directory. */
  readonly empty: string;
  /** Directory that the commands of a workspace share as their `/tmp`. */
  temporaryFor(workspaceId: string): string;
  /** Path of a file with this text, or these bytes. */
  fileOf(content: string | Uint8Array): string;
}

/** Creates this process's own directory, and removes those that dead processes left behind. */
export function openSandboxFiles(stateDir: string): SandboxFiles {
  const parent = join(stateDir, "sandbox");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    const owner = /^(\d+-\d+-[0-9a-f]+)\.\d+$/.exec(name)?.[1];
    if (owner !== undefined && !ownerRuns(owner)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  count += 1;
  const own = join(parent, `${thisOwner()}.${count}`);
  const empty = join(own, "empty");
  mkdirSync(empty, { recursive: true, mode: 0o700 });
  return {
    empty,
    temporaryFor(workspaceId) {
      const directory = join(own, "tmp", workspaceId);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return directory;
    },
    fileOf(content) {
      const file = join(own, createHash("sha256").update(content).digest("hex"));
      if (!existsSync(file)) writeFileSync(file, content, { mode: 0o600 });
      return file;
    },
    [Symbol.dispose]: () => rmSync(own, { recursive: true, force: true }),
  };
}

let count = 0;
