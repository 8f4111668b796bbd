import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { listSessionWorktrees, pruneSessionWorktrees } from "@gennai/server/git/session-worktree";
import { ProcessLocks } from "@gennai/server/process/process-lock";
import { createRedactor } from "@gennai/server/redaction/redactor";
import { exportSession } from "@gennai/server/store/session-bundle/export-session";
import { importSession } from "@gennai/server/store/session-bundle/import-session";
import { defaultStateDir } from "@gennai/server/store/state-directory";
import { openStore } from "@gennai/server/store/store";
import { defaultSettings } from "../../connection/default-settings.ts";
import { CliError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../version.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { usageError } from "../run/run-options.ts";

export interface CopyFlags {
  readonly workspace?: string;
  readonly out?: string;
  readonly prune?: boolean;
  readonly json?: boolean;
}

/** Bytes of a file that is read for an import at most. */
const maxBundleBytes = 256 * 1024 * 1024;

/** `gennai sessions export <id>`: a bundle, to a new file (0600) or to standard output. */
export async function sessionsExportCommand(sessionId: string, flags: CopyFlags, console: Console): Promise<ExitCode> {
  await using store = await storeOf(console);
  const lines = exportSession({ log: store.log, blobs: store.blobs, redactor: await createRedactor() }, sessionId);
  if (flags.out === undefined) {
    for await (const line of lines) console.output.write(line);
    return exitCode.ok;
  }
  const file = resolve(console.directory, flags.out);
  // An unknown session makes no file.
  const first = await lines.next();
  try {
    await pipeline(withFirst(first, lines), createWriteStream(file, { flags: "wx", mode: 0o600 }));
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`, {
      exitCode: exitCode.usage,
      next: ["Name a file that does not exist yet."],
      cause: error,
    });
  }
  console.output.write(`${file}\n`);
  return exitCode.ok;
}

/** `gennai sessions import <file>`: prints the id of the new session. */
export async function sessionsImportCommand(file: string, flags: CopyFlags, console: Console): Promise<ExitCode> {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const bytes = await readBounded(resolve(console.directory, file));
  await using store = await storeOf(console);
  const imported = await importSession({ log: store.log, blobs: store.blobs }, bytes, {
    ...{ workspaceRoot, settings: defaultSettings({}), now: Date.now },
  });
  if (flags.json === true) console.output.write(`${JSON.stringify(imported)}\n`);
  else {
    console.output.write(`${imported.sessionId}\n`);
    console.errors.write(
      `Imported ${imported.events} events; ${imported.leftOut} were left out: decisions, changes and approvals are not taken over.\n`,
    );
  }
  return exitCode.ok;
}

/** `gennai sessions worktrees`: those that `gennai run --worktree` made. */
export async function sessionsWorktreesCommand(flags: CopyFlags, console: Console): Promise<ExitCode> {
  const directory = await resolveWorkspace(flags.workspace, console);
  const { signal } = new AbortController();
  if (flags.prune !== true) {
    const found = await listSessionWorktrees(directory, signal);
    for (const each of found) {
      console.output.write(
        flags.json === true
          ? `${JSON.stringify(each)}\n`
          : `${terminalSafe(each.path)}  ${terminalSafe(each.branch)}\n`,
      );
    }
    if (found.length === 0 && flags.json !== true) console.output.write("No working trees of sessions.\n");
    return exitCode.ok;
  }
  const locks = new ProcessLocks(join(defaultStateDir(console.environment), "locks"));
  const inUse = (path: string): boolean => locks.holder(`tree ${path}`) !== undefined;
  for (const each of await pruneSessionWorktrees(directory, { inUse, signal })) {
    console.output.write(
      flags.json === true ? `${JSON.stringify(each)}\n` : `${words[each.state]}: ${terminalSafe(each.path)}\n`,
    );
  }
  return exitCode.ok;
}

const words = {
  removed: "removed",
  "in-use": "kept, a turn runs there",
  "has-changes": "kept, it has changes that are not committed",
  "kept-by-git": "kept, git would not remove it",
} as const;

async function storeOf(console: Console) {
  return openStore(defaultStateDir(console.environment), {
    toolVersion: version,
    onWarning: (text) => console.errors.write(`${terminalSafe(text)}\n`),
  });
}

async function* withFirst(first: IteratorResult<string, void>, rest: AsyncIterable<string>) {
  if (first.done !== true) yield first.value;
  yield* rest;
}

async function readBounded(file: string): Promise<Uint8Array> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    if (size > maxBundleBytes) throw usageError(`${file} is too large to be a session.`, "Export the session again.");
    return await handle.readFile();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      exitCode: exitCode.usage,
      next: ["Name a file that gennai sessions export wrote."],
      cause: error,
    });
  }
}
