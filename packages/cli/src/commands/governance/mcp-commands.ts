import { createInterface } from "node:readline";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { describedStart } from "@gennai/sessions/mcp/described-start";
import { McpAcceptance, type McpStatus } from "@gennai/sessions/mcp/mcp-acceptance";
import { McpError } from "@gennai/sessions/mcp/mcp-error";
import { logIn, logOut } from "@gennai/sessions/mcp/mcp-login";
import { McpLogins } from "@gennai/sessions/mcp/mcp-logins";
import { usageError } from "../../terminal/cli-error.ts";
import { asTyped, type Console, commandName } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { linesOf, type Said, said } from "../command-host.ts";
import { limitsHere } from "../limits-here.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

export interface McpLoginFlags extends WorkspaceFlags {
  readonly scope?: string;
}

/** `gennai mcp list` */
export async function mcpListCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { acceptance } = await openAcceptance(flags, console);
  const { servers, problems } = await acceptance.status();
  const lineOf = (status: McpStatus): string => {
    const { server, accepted, changed, loggedIn } = status;
    const why = changed ? "changed since it was accepted" : "not accepted";
    const state = accepted
      ? "starts with a turn that may use it"
      : `${why}: ${commandName(console.environment)} mcp accept ${server.name}`;
    const login = loggedIn === undefined ? "" : `\n  logged in since ${loggedIn}`;
    return `${server.name.padEnd(16)} ${server.origin.padEnd(8)} ${startOf(status)}\n  ${state}${login}`;
  };
  const text = linesOf(servers, lineOf, "No MCP servers are configured here.");
  const left = problems.map((problem) => `left out: ${asTyped(terminalSafe(problem), console.environment)}\n`);
  const shown = servers.map(({ server, accepted }) => ({ name: server.name, origin: server.origin, accepted }));
  return said({ servers: shown, problems }, text + left.join(""));
}

/** `gennai mcp accept` */
export async function mcpAcceptCommand(name: string, flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { acceptance, record } = await openAcceptance(flags, console);
  const found = await acceptance.accept(name, record);
  if (found === undefined) throw usageError(`There is no MCP server ${JSON.stringify(name)} here.`, listShows);
  const lines = [
    "Accepted as it is now. From the next turn on this runs, and with your rights:",
    `  ${startOf(found)}`,
    ...Object.entries(found.server.runs).map(([name, text]) => `  runs ${spelledOut(name)}: ${spelledOut(text)}`),
    "Each of its tools still asks before its first call.",
  ];
  return said({ accepted: name }, `${lines.join("\n")}\n`);
}

/** `gennai mcp login`: shows an address to agree at, and waits until the browser comes back, or its address is pasted. */
export async function mcpLoginCommand(name: string, flags: McpLoginFlags, console: Console): Promise<Said> {
  const { place, logins, record: act } = await openLogin(name, flags, console);
  const lines = createInterface({ input: console.input });
  const show = (address: URL): void => {
    console.output.write(`Open this in your browser, and agree there:\n  ${address.href}\n`);
    console.output.write("If the browser is on another machine, paste the address that it ends at:\n");
  };
  const record = () => act({ mcp_login: name, mcp_url: place.url });
  const { signal } = new AbortController();
  try {
    await logIn(place, { logins, show, pasted: lines, scope: flags.scope, record, signal });
  } finally {
    lines.close();
  }
  return { text: `Logged in at ${name}. Its tools ask as before.\n` };
}

/** `gennai mcp logout` */
export async function mcpLogoutCommand(name: string, flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { place, logins, record } = await openLogin(name, flags, console);
  if ((await logins.find(place)) !== undefined) await record({ mcp_logout: name, mcp_url: place.url });
  const ends = {
    nothing: `There is no login at ${name}.`,
    forgotten: `Forgot the login at ${name}. Its server was not told: revoke it there too.`,
    revoked: `Logged out at ${name}.`,
  };
  return { text: `${ends[await logOut(place, logins)]}\n` };
}

const listShows = "`gennai mcp list` shows those there are.";

async function openLogin(name: string, flags: WorkspaceFlags, console: Console) {
  const { acceptance, record, stateDir } = await openAcceptance(flags, console);
  const place = await acceptance.placeOfLogin(name).catch((error: unknown) => {
    throw error instanceof McpError ? usageError(error.message, listShows) : error;
  });
  return { place, record, logins: new McpLogins(stateDir) };
}

async function openAcceptance(flags: WorkspaceFlags, console: Console) {
  const { environment } = console;
  const { workspaceRoot, stateDir } = await placeHere(flags, console);
  const limits = () => limitsHere(console);
  const configDir = userConfigDir(environment);
  const acceptance = new McpAcceptance({ workspaceRoot, stateDir, configDir, environment, limits });
  return { acceptance, stateDir, record: actRecorder(workspaceRoot, console) };
}

function startOf({ server }: McpStatus): string {
  return describedStart(server.written, "shown").map(spelledOut).join("\n  ");
}
