import { setTimeout } from "node:timers/promises";
import { rootReason } from "@gennai/client/connection/root-reason";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { PAGE_CLOSE_PATH, PAGE_CODE_PATH, PAGE_DEVICES_PATH } from "@gennai/protocol/page-paths";
import { z } from "zod";
import { type ProvenServer, provenServers } from "../../connection/proven-servers.ts";
import { assertProves, parseServerUrl } from "../../connection/server-choice.ts";
import { tokenFor } from "../../connection/server-token.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { type Console, commandName } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { openInBrowser } from "../../terminal/open-in-browser.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface OpenFlags {
  readonly workspace?: string;
  readonly port?: string;
  readonly browser?: boolean;
  readonly closeAll?: boolean;
  readonly remembered?: boolean;
  /** Id of a remembered browser. */
  readonly forget?: string;
  /** URL of a server that knows a token of the user's own. */
  readonly server?: string;
  readonly authTokenFile?: string;
}

/** Milliseconds for a server to answer, and for a browser to read the file it was given. */
const answerMs = 3_000;
const browserMs = 5_000;

const devicesSchema = z.object({ devices: z.array(z.object({ id: z.string(), name: z.string(), used: z.number() })) });
const codeSchema = z.object({ code: z.string().regex(/^[A-Za-z0-9_-]+$/) });

/** `gennai open`: a fresh link to the page of a running server of this user. */
export async function openCommand(flags: OpenFlags, console: Console): Promise<ExitCode> {
  const stateDir = defaultStateDir(console.environment);
  const server =
    flags.server === undefined
      ? await findServer(flags, stateDir, console)
      : await namedServer(flags.server, flags, stateDir, console);
  if (flags.closeAll === true) {
    await post(server, PAGE_CLOSE_PATH);
    console.output.write(`Every page of ${server.url} is shut out.\n`);
    return exitCode.ok;
  }
  if (flags.remembered === true || flags.forget !== undefined) {
    const asked = flags.forget === undefined ? {} : { forget: flags.forget };
    const { devices } = devicesSchema.parse(await post(server, PAGE_DEVICES_PATH, asked));
    const rows = devices.map(({ id, name, used }) => `${id}  ${new Date(used).toISOString()}  ${terminalSafe(name)}\n`);
    console.output.write(rows.length === 0 ? "No browser is remembered.\n" : rows.join(""));
    return exitCode.ok;
  }
  const { code } = codeSchema.parse(await post(server, PAGE_CODE_PATH));
  const link = `${server.url}/#${code}`;
  console.output.write(`Open ${link}\n`);
  if (flags.browser === true) {
    await using _file = await openInBrowser(link, { stateDir, console });
    await setTimeout(browserMs);
  }
  return exitCode.ok;
}

async function namedServer(text: string, flags: OpenFlags, stateDir: string, console: Console): Promise<ProvenServer> {
  const url = parseServerUrl(text);
  const token = await tokenFor(
    url,
    { stateDir, ...(flags.authTokenFile === undefined ? {} : { tokenFile: flags.authTokenFile }) },
    console,
  );
  if (token === undefined) {
    throw usageError(`There is no token for ${url}.`, "Give it with --auth-token-file or GENNAI_AUTH_TOKEN.");
  }
  await assertProves(url, token);
  return { url, token };
}

async function findServer(flags: OpenFlags, stateDir: string, console: Console): Promise<ProvenServer> {
  if (flags.port !== undefined && !/^\d{1,5}$/.test(flags.port)) {
    throw usageError(`--port takes a number, not ${JSON.stringify(flags.port)}.`, "For example: --port 7777");
  }
  const workspace = await resolveWorkspace(flags.workspace, console);
  const port = flags.port === undefined ? {} : { port: Number(flags.port) };
  for await (const server of provenServers(stateDir, { ...port, workspace })) return server;
  if (flags.workspace === undefined) for await (const server of provenServers(stateDir, port)) return server;
  throw usageError(
    "No server of yours is running.",
    `Start one: ${commandName(console.environment)} serve; it prints a link.`,
  );
}

async function post({ url, token }: ProvenServer, path: string, body: object = {}): Promise<unknown> {
  const response = await fetch(new URL(path, url), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: unknown) => {
    throw new CliError(`The server at ${url} cannot be reached: ${rootReason(error)}.`, {
      next: ["Check that it runs, the address, and that this machine trusts its certificate."],
      cause: error,
    });
  });
  if (response.ok) return response.json();
  throw new CliError(`The server at ${url} serves no page.`, {
    next: ["It may be of an older version, or not one of `gennai serve`: start it again."],
  });
}
