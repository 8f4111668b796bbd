import type { AgentClient } from "@gennai/client/connection/connection";
import { dropLayer, keepLayer, listLayer } from "@gennai/client/session/layer";
import { listSessions } from "@gennai/client/session/session-list";
import type { KeptTrees, LayeredTree } from "@gennai/protocol/model/session/layer";
import { plural } from "@gennai/protocol/plural";
import { agreed } from "../terminal/agreed.ts";
import { usageError } from "../terminal/cli-error.ts";
import { type Console, commandName } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { type Said, said } from "./command-host.ts";
import { type WorkspaceServerFlags, workspaceServer } from "./options/workspace-server.ts";

export interface StageFlags extends WorkspaceServerFlags {
  readonly session?: string;
}

export interface StageKeepFlags extends StageFlags {
  readonly yes?: boolean;
}

/** How many of the newest sessions are searched for such trees. */
const maxSessions = 50;

/** `gennai stage list` */
export async function stageListCommand(flags: StageFlags, console: Console): Promise<Said> {
  await using found = await findTrees(flags, console);
  const { sessionId, trees } = found;
  return said({ sessionId, trees }, described(sessionId, trees, commandName(console.environment)));
}

/** `gennai stage keep PATH…`: shows what that means and asks; without a terminal it needs `--yes`. */
export async function stageKeepCommand(
  paths: readonly string[],
  flags: StageKeepFlags,
  console: Console,
): Promise<Said | number> {
  await using found = await findTrees(flags, console);
  const { client, sessionId, signal } = found;
  const seen = await keepLayer(client, { sessionId, paths }, { signal });
  if (flags.yes !== true && !(await confirmed(seen, console))) {
    console.errors.write("Nothing was kept.\n");
    return exitCode.refused;
  }
  const { sha256 } = seen;
  const { kept, files } = await keepLayer(client, { sessionId, paths, sha256 }, { signal });
  if (!kept) throw usageError("It has changed since, so nothing was kept.", "Look again: gennai stage list");
  const names = seen.paths.map(terminalSafe).join(", ");
  const undo = `Undo it: ${commandName(console.environment)} undo.`;
  const text = `${names}: in the workspace now (${plural(files, "file")}). ${undo}\n`;
  return said({ sessionId, kept: seen.paths, files }, text);
}

/** `gennai stage drop [PATH…]` */
export async function stageDropCommand(paths: readonly string[], flags: StageFlags, console: Console): Promise<Said> {
  await using found = await findTrees(flags, console);
  const { client, sessionId, signal } = found;
  const dropped = await dropLayer(client, { sessionId, paths }, { signal });
  const names = dropped.map(terminalSafe).join(", ");
  return said({ sessionId, dropped }, names === "" ? "There was nothing to drop.\n" : `Dropped ${names}.\n`);
}

/** The trees of the named session, else of the newest one that has any. */
async function findTrees(flags: StageFlags, console: Console) {
  await using parts = new AsyncDisposableStack();
  const { client, workspace, signal } = parts.use(await workspaceServer(flags, console));
  const { sessionId, trees } = await newestWithTrees(client, flags.session, workspace, signal);
  const owned = parts.move();
  return { client, sessionId, trees, signal, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

async function newestWithTrees(
  client: AgentClient,
  session: string | undefined,
  workspace: string,
  signal: AbortSignal,
): Promise<{ readonly sessionId: string; readonly trees: readonly LayeredTree[] }> {
  const known = session === undefined ? await listSessions(client, workspace, { signal }) : [{ sessionId: session }];
  const [newest] = known;
  if (newest === undefined) {
    throw usageError(`There is no session in ${workspace}.`, "Name the right directory with --workspace.");
  }
  for (const { sessionId } of known.slice(0, maxSessions)) {
    const trees = await listLayer(client, sessionId, { signal });
    if (trees.length > 0) return { sessionId, trees };
  }
  return { sessionId: newest.sessionId, trees: [] };
}

function described(sessionId: string, trees: readonly LayeredTree[], name: string): string {
  if (trees.length === 0) return "No command has left anything that git ignores.\n";
  const lines = trees.map((tree) => {
    const gone = tree.removed > 0 ? `, ${tree.removed} removed` : "";
    const what = `${plural(tree.files, "file")}, ${tree.bytes} bytes${gone}  ${tree.sha256.slice(0, 12)}`;
    return `  ${terminalSafe(tree.path)}  ${what}\n    by: ${terminalSafe(tree.command)}\n`;
  });
  const [first] = trees;
  const keep = `${name} stage keep ${terminalSafe(first?.path ?? "")}`;
  return (
    `session ${sessionId}: only its commands see these; the workspace does not have them\n${lines.join("")}` +
    `Have one in the workspace: ${keep}\n`
  );
}

async function confirmed({ paths, files, reasons }: KeptTrees, console: Console): Promise<boolean> {
  const names = paths.map(terminalSafe).join(", ");
  console.errors.write(`${names}: ${plural(files, "file")} of the workspace would change.\n`);
  for (const reason of reasons) console.errors.write(`  ${terminalSafe(reason)}\n`);
  return agreed("Programs here will run what is in it. Keep it? [y/N] ", "Keeping it needs your yes", console);
}
