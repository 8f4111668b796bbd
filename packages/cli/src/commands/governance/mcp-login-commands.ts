import { createInterface } from "node:readline";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { McpAcceptance } from "@gennai/sessions/mcp/mcp-acceptance";
import { McpError } from "@gennai/sessions/mcp/mcp-error";
import { logIn, logOut } from "@gennai/sessions/mcp/mcp-login";
import { type LoginPlace, McpLogins } from "@gennai/sessions/mcp/mcp-logins";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { limitsHere } from "../limits-here.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import type { McpFlags } from "./mcp-commands.ts";

export interface McpLoginFlags extends McpFlags {
  readonly scope?: string;
}

/** `gennai mcp login`: shows an address to agree at, and waits until the browser comes back, or its address is pasted. */
export async function mcpLoginCommand(name: string, flags: McpLoginFlags, console: Console): Promise<ExitCode> {
  const place = await placeOf(name, flags, console);
  const lines = createInterface({ input: console.input });
  const show = (address: URL): void => {
    console.output.write(`Open this in your browser, and agree there:\n  ${address.href}\n`);
    console.output.write("If the browser is on another machine, paste the address that it ends at:\n");
  };
  const logins = new McpLogins(defaultStateDir(console.environment));
  const act = actRecorder(await resolveWorkspace(flags.workspace, console), console);
  const record = () => act({ mcp_login: name, mcp_url: place.url });
  const { signal } = new AbortController();
  try {
    await logIn(place, { logins, show, pasted: lines, scope: flags.scope, record, signal });
  } finally {
    lines.close();
  }
  console.output.write(`Logged in at ${name}. Its tools ask as before.\n`);
  return exitCode.ok;
}

/** `gennai mcp logout` */
export async function mcpLogoutCommand(name: string, flags: McpFlags, console: Console): Promise<ExitCode> {
  const place = await placeOf(name, flags, console);
  const logins = new McpLogins(defaultStateDir(console.environment));
  if ((await logins.find(place)) !== undefined)
    await actRecorder(
      await resolveWorkspace(flags.workspace, console),
      console,
    )({ mcp_logout: name, mcp_url: place.url });
  const end = await logOut(place, logins);
  const said = {
    nothing: `There is no login at ${name}.`,
    forgotten: `Forgot the login at ${name}. Its server was not told: revoke it there too.`,
    revoked: `Logged out at ${name}.`,
  };
  console.output.write(`${said[end]}\n`);
  return exitCode.ok;
}

async function placeOf(name: string, flags: McpFlags, console: Console): Promise<LoginPlace> {
  const { environment } = console;
  const acceptance = new McpAcceptance({
    workspaceRoot: await resolveWorkspace(flags.workspace, console),
    stateDir: defaultStateDir(environment),
    configDir: userConfigDir(environment),
    environment,
    limits: () => limitsHere(console),
  });
  try {
    return await acceptance.placeOfLogin(name);
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    throw usageError(error.message, "`gennai mcp list` shows those there are.");
  }
}
