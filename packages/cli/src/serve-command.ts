import { join, resolve } from "node:path";
import { PortTakenError } from "@gennai/server/http/listen-address";
import { takeServerToken } from "@gennai/server/http/token";
import { type LogAddress, parseLogAddress } from "@gennai/server/nats/log-address";
import { type RunningServer, type ServerOptions, startServer } from "@gennai/server/serve";
import { defaultStateDir } from "@gennai/server/store/state-directory";
import { CliError } from "./cli-error.ts";
import { type Console, commandName, isTerminal, paintFor } from "./console.ts";
import { defaultSettings } from "./default-settings.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { Interrupts } from "./interrupts.ts";
import { LineInput } from "./line-input.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { pageDirectory } from "./page-directory.ts";
import { parseBackend, parseSandbox, usageError } from "./run-options.ts";
import { copySampleWorkspace } from "./sample-workspace.ts";
import { type BannerFacts, serveBanner } from "./serve-banner.ts";
import { terminalSafe } from "./terminal-safe.ts";
import { version } from "./version.ts";
import { resolveWorkspace } from "./workspace-option.ts";

export interface ServeFlags {
  readonly port: string;
  readonly host: string;
  readonly workspace?: string;
  /** Print the token once. */
  readonly authToken?: boolean;
  readonly authTokenFile?: string;
  /** False: `--no-auth`. */
  readonly auth: boolean;
  readonly backend?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly protect?: readonly string[];
  readonly sandbox?: string;
  readonly rinaPort?: string;
  /** Where the log lies that several servers share. */
  readonly log?: string;
  /** Open the page in a browser. */
  readonly open?: boolean;
}

/** `gennai serve`: runs until a signal; the first one ends it in order, the second at once. */
export async function serveCommand(flags: ServeFlags, console: Console): Promise<ExitCode> {
  const port = parsePort(flags.port, "--port");
  const rinaPort = flags.rinaPort === undefined ? undefined : parsePort(flags.rinaPort, "--rina-port");
  const backend = parseBackend(flags.backend);
  const sandbox = parseSandbox(flags.sandbox);
  if (!flags.auth && !isLoopback(flags.host)) {
    throw usageError(
      "--no-auth is only for this machine: anyone who reaches the server could change your files.",
      "Leave out --no-auth or --host.",
    );
  }
  const sharedLog = flags.log === undefined ? undefined : parseLog(flags.log, console);
  const { workspace, isSample } = await workspaceOf(flags, console);
  const stateDir = defaultStateDir(console.environment);
  const tokenFile = flags.authTokenFile === undefined ? undefined : resolve(console.directory, flags.authTokenFile);
  const token = await takeServerToken({
    environment: console.environment,
    noAuth: !flags.auth,
    ...(tokenFile === undefined ? {} : { tokenFile }),
  });
  const settings = defaultSettings({
    ...(backend === undefined ? {} : { backend }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
  });
  using interrupts = new Interrupts();
  const options: ServerOptions = {
    ...{ version, stateDir, workspace, defaultSettings: settings },
    ...(sharedLog === undefined ? {} : { sharedLog }),
    address: { type: "tcp", host: flags.host, port },
    token: token.type === "token" ? token.token : undefined,
    allowedOrigins: flags.allowOrigin ?? [],
    allowedHosts: flags.allowHost ?? [],
    protectedBranches: flags.protect ?? [],
    sandbox,
    ...(rinaPort === undefined ? {} : { rinaPort }),
    pageDirectory: pageDirectory(),
    announce: true,
    log: serverLog(console),
    environment: console.environment,
  };
  await using server = await startSomewhere(options, flags, console, interrupts);
  const link = server.pageLink() ?? server.url;
  const facts: BannerFacts = {
    ...{ version, workspace, isSample, settings, link },
    sandbox: server.manager.services.sandbox,
    url: server.url,
    rinaUrl: server.rinaUrl,
    isLoopback: isLoopback(flags.host),
    token:
      token.type === "none"
        ? { type: "none" }
        : {
            type: token.source,
            place: token.source === "file" ? (tokenFile ?? "") : join(stateDir, "servers", `${server.port ?? 0}.json`),
            shown: flags.authToken === true ? token.token : undefined,
            weak: token.weak,
          },
    command: commandName(console.environment),
  };
  console.output.write(serveBanner(facts, paintFor(console.output, console.environment)));
  await using _opened = flags.open === true ? await openInBrowser(link, { stateDir, console }) : undefined;
  await new Promise<void>((stop) => interrupts.listen(stop));
  console.errors.write("Stopping … (again to leave at once)\n");
  return exitCode.ok;
}

/** Listens where the user wants; when that port is taken, on the next free one if the user agrees. */
async function startSomewhere(
  options: ServerOptions,
  flags: ServeFlags,
  console: Console,
  interrupts: Interrupts,
): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error;
    const { freePort } = error;
    const { address } = options;
    if (freePort !== undefined && address.type === "tcp" && isTerminal(console.input) && isTerminal(console.errors)) {
      using input = new LineInput(console, () => interrupts.interrupt());
      const { signal } = new AbortController();
      const answer = await input.question(`Port ${flags.port} is taken. Use ${freePort} instead? [Y/n] `, { signal });
      if (/^\s*(y|yes)?\s*$/i.test(answer ?? "n"))
        return await startServer({ ...options, address: { ...address, port: freePort } });
    }
    throw new CliError(`Port ${flags.port} on ${flags.host} is taken by another program.`, {
      exitCode: exitCode.usage,
      next: [
        freePort === undefined
          ? "Choose another port with --port."
          : `Port ${freePort} is free: ${commandName(console.environment)} serve --port ${freePort}`,
        "If it is a Gennai server of yours, use it as it is: gennai run finds it by its workspace.",
      ],
      cause: error,
    });
  }
}

async function workspaceOf(
  flags: ServeFlags,
  console: Console,
): Promise<{ readonly workspace: string; readonly isSample: boolean }> {
  const sample = console.environment["GENNAI_SAMPLE_WORKSPACE"];
  if (flags.workspace === undefined && sample !== undefined && sample !== "") {
    return { workspace: await copySampleWorkspace(resolve(console.directory, sample)), isSample: true };
  }
  return { workspace: await resolveWorkspace(flags.workspace, console), isSample: false };
}

function parsePort(text: string, name: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  throw usageError(
    `${name} takes a number from 0 to 65535, not ${JSON.stringify(text)}.`,
    `For example: ${name} ${name === "--port" ? 7777 : 8787}; 0 takes any free port.`,
  );
}

function parseLog(text: string, console: Console): LogAddress {
  try {
    return parseLogAddress(text, console.environment);
  } catch (error) {
    throw usageError(
      error instanceof Error ? error.message : String(error),
      "Leave out --log to keep everything on this machine.",
    );
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function serverLog(console: Console) {
  const write = (text: string) => void console.errors.write(`${terminalSafe(text)}\n`);
  return {
    info: write,
    warn: (text: string) => write(`warning: ${text}`),
    error(text: string, cause?: unknown) {
      write(`error: ${text}`);
      if (cause instanceof Error) write(cause.stack ?? cause.message);
    },
  };
}
