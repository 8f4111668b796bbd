import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { describedStart } from "@gennai/sessions/mcp/described-start";
import { McpAcceptance, type McpStatus } from "@gennai/sessions/mcp/mcp-acceptance";
import { usageError } from "../../terminal/cli-error.ts";
import { asTyped, type Console, commandName } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { limitsHere } from "../limits-here.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface McpFlags {
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `gennai mcp list` */
export async function mcpListCommand(flags: McpFlags, console: Console): Promise<ExitCode> {
  const { servers, problems } = await (await openAcceptance(flags, console)).status();
  if (flags.json === true) {
    const shown = servers.map(({ server, accepted }) => ({ name: server.name, origin: server.origin, accepted }));
    console.output.write(`${JSON.stringify({ servers: shown, problems })}\n`);
    return exitCode.ok;
  }
  for (const status of servers) {
    const { server, accepted, changed } = status;
    const state = accepted
      ? "starts with a turn that may use it"
      : `${changed ? "changed since it was accepted" : "not accepted"}: ${commandName(console.environment)} mcp accept ${server.name}`;
    console.output.write(`${server.name.padEnd(16)} ${server.origin.padEnd(8)} ${startOf(status)}\n  ${state}\n`);
    if (status.loggedIn !== undefined) console.output.write(`  logged in since ${status.loggedIn}\n`);
  }
  if (servers.length === 0) console.output.write("No MCP servers are configured here.\n");
  for (const problem of problems)
    console.output.write(`left out: ${asTyped(terminalSafe(problem), console.environment)}\n`);
  return exitCode.ok;
}

/** `gennai mcp accept` */
export async function mcpAcceptCommand(name: string, flags: McpFlags, console: Console): Promise<ExitCode> {
  const record = actRecorder(await resolveWorkspace(flags.workspace, console), console);
  const found = await (await openAcceptance(flags, console)).accept(name, record);
  if (found === undefined) {
    throw usageError(
      `There is no MCP server ${JSON.stringify(name)} here.`,
      "`gennai mcp list` shows those there are.",
    );
  }
  if (flags.json === true) console.output.write(`${JSON.stringify({ accepted: name })}\n`);
  else {
    console.output.write(`Accepted as it is now. From the next turn on this runs, and with your rights:\n`);
    console.output.write(`  ${startOf(found)}\n`);
    for (const [name, text] of Object.entries(found.server.runs)) {
      console.output.write(`  runs ${spelledOut(name)}: ${spelledOut(text)}\n`);
    }
    console.output.write(`Each of its tools still asks before its first call.\n`);
  }
  return exitCode.ok;
}

async function openAcceptance(flags: McpFlags, console: Console): Promise<McpAcceptance> {
  const { environment } = console;
  return new McpAcceptance({
    workspaceRoot: await resolveWorkspace(flags.workspace, console),
    stateDir: defaultStateDir(environment),
    configDir: userConfigDir(environment),
    environment,
    limits: () => limitsHere(console),
  });
}

function startOf({ server }: McpStatus): string {
  return describedStart(server.written, "shown").map(spelledOut).join("\n  ");
}
