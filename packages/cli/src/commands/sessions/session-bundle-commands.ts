import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { errorMessage } from "@gennai/protocol/error-message";
import { SessionBundles } from "@gennai/store/session-bundles";
import { defaultSettings } from "../../connection/default-settings.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import { writeLines } from "../../terminal/write-lines.ts";
import { writeNewFile } from "../../terminal/write-new-file.ts";
import { type Said, said } from "../command-host.ts";
import { resolveWorkspace, type WorkspaceFlags } from "../options/resolve-workspace.ts";
import { leavesText } from "../options/what-leaves.ts";

export interface SessionBundleFlags extends WorkspaceFlags {
  readonly out?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Largest file that is read for an import; bytes. */
const maxBundleBytes = 256 * 1024 * 1024;

/** `gennai sessions export <id>`: a bundle, to a new file (0600) or to standard output. */
export async function sessionsExportCommand(
  sessionId: string,
  flags: SessionBundleFlags,
  console: Console,
): Promise<number> {
  await using bundles = await bundlesOf(console);
  const lines = bundles.export(sessionId);
  if (flags.dryRun === true) {
    console.errors.write(await listed(sessionId, lines));
    return exitCode.ok;
  }
  if (flags.out === undefined) {
    await writeLines(lines, console.output);
    console.errors.write(saidText);
    return exitCode.ok;
  }
  // An unknown session makes no file.
  const first = await lines.next();
  await writeNewFile(flags.out, withFirst(first, lines), console);
  console.errors.write(saidText);
  return exitCode.ok;
}

const saidText = "It is redacted, and holds the conversation and what was read, prompts and answers too.\n";

/** A session is always exported as a whole: no part of it can be left out. */
async function listed(sessionId: string, lines: AsyncIterable<string>): Promise<string> {
  const counts = { event: 0, blob: 0 };
  for await (const line of lines) {
    if (line.startsWith('{"event":')) counts.event += 1;
    else if (line.startsWith('{"blob":')) counts.blob += 1;
  }
  return leavesText(`Would leave with session ${sessionId}, redacted, for anyone who has the file:`, [
    {
      leaves: true,
      name: "prompts",
      what: `title, prompts, answers, calls with their inputs (${counts.event} events)`,
    },
    { leaves: true, name: "outputs", what: `what calls printed and read, and images (${counts.blob} contents)` },
    { leaves: true, name: "decisions", what: "questions, answers and by whom; an import does not believe them" },
    { leaves: false, name: "contents", what: "never; what files held before changes, which undo needs" },
    { leaves: false, name: "records", what: "never; the ledger's are exported by themselves" },
  ]);
}

/** `gennai sessions import <file>`: prints the id of the new session. */
export async function sessionsImportCommand(file: string, flags: SessionBundleFlags, console: Console): Promise<Said> {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const bytes = await readBounded(resolve(console.directory, file));
  await using bundles = await bundlesOf(console);
  const imported = await bundles.import(bytes, { workspaceRoot, settings: defaultSettings({}) });
  if (flags.json !== true) {
    console.errors.write(
      `Imported ${imported.events} events; ${imported.leftOut} were left out: decisions, changes and approvals are not taken over.\n`,
    );
  }
  return said(imported, `${imported.sessionId}\n`);
}

async function bundlesOf(console: Console): Promise<SessionBundles> {
  return SessionBundles.open(defaultStateDir(console.environment), {
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
    throw new CliError(`${file} cannot be read: ${errorMessage(error)}`, {
      exitCode: exitCode.usage,
      next: ["Name a file that gennai sessions export wrote."],
      cause: error,
    });
  }
}
