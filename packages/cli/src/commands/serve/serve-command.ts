import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { PortTakenError } from "@gennai/server/http/listen/listen-address";
import { takeServerToken } from "@gennai/server/http/token";
import { type RunningServer, startServer } from "@gennai/server/serve";
import type { ServerOptions } from "@gennai/server/tenants/server-options";
import { defaultSettings } from "../../connection/default-settings.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import { type Console, commandName, isTerminal } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { LineInput } from "../../terminal/line-input.ts";
import { openInBrowser } from "../../terminal/open-in-browser.ts";
import { version } from "../../terminal/version.ts";
import { type CommandsFlags, commandsMode, type ModelFlags, modelChoice } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { type BannerFacts, serveBanner } from "./banner.ts";
import { type LogFlags, logOption } from "./log-options.ts";
import { copySampleWorkspace } from "./sample-workspace.ts";
import { limitsOption, refuseUnencrypted, type SecurityFlags, tlsOption, usersOption } from "./security-options.ts";
import { drainOption, idleOption, inputEnds, type WatchFlags } from "./watch-options.ts";

export interface ServeFlags extends ModelFlags, CommandsFlags, LogFlags, WatchFlags, SecurityFlags {
  readonly port: string;
  readonly host: string;
  readonly workspace?: string;
  /** Print the token once. */
  readonly authToken?: boolean;
  readonly authTokenFile?: string;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly protect?: readonly string[];
  readonly rinaPort?: string;
  /** Address of the log that several servers share. */
  readonly log?: string;
  /** Open the page in a browser. */
  readonly open?: boolean;
  /** Lets editors find the server for other folders of the user, too. */
  readonly shared?: boolean;
}

/** `gennai serve`: runs until a signal; the first one ends it in order, the second at once. */
export async function serveCommand(flags: ServeFlags, console: Console): Promise<ExitCode> {
  const port = parsePort(flags.port, "--port");
  const rinaPort = flags.rinaPort === undefined ? undefined : parsePort(flags.rinaPort, "--rina-port");
  const log = logOption(flags, console);
  const drain = drainOption(flags);
  const idle = idleOption(flags);
  const model = modelChoice(flags);
  const commands = commandsMode(flags);
  if (flags.auth === false && !isLoopback(flags.host)) {
    throw usageError(
      "--no-auth is only for this machine: anyone who reaches the server could change your files.",
      "Leave out --no-auth or --host.",
    );
  }
  refuseUnencrypted(flags, { host: flags.host, isLoopback: isLoopback(flags.host) });
  const users = usersOption(flags, console);
  if (users !== undefined) refuseOfOneUser(flags, console);
  if (idle !== undefined && rinaPort !== undefined) {
    throw usageError("--quit-when-idle does not see who uses --rina-port.", "Leave one of the two out.");
  }
  const limits = limitsOption(flags);
  const tls = tlsOption(flags, console);
  const { workspace, isSample } =
    users === undefined ? await workspaceOf(flags, console) : { workspace: undefined, isSample: false };
  const stateDir = defaultStateDir(console.environment);
  const tokenFile = flags.authTokenFile === undefined ? undefined : resolve(console.directory, flags.authTokenFile);
  const token =
    users === undefined
      ? await takeServerToken({
          environment: console.environment,
          noAuth: flags.auth === false,
          ...(tokenFile === undefined ? {} : { tokenFile }),
        })
      : ({ type: "none" } as const);
  const settings = defaultSettings(model);
  using interrupts = new Interrupts();
  const release = releaseDirectory();
  const options: ServerOptions = {
    version,
    stateDir,
    workspace,
    defaultSettings: settings,
    ...(flags.log === undefined ? {} : { sharedLog: flags.log }),
    ...(users === undefined ? {} : { users }),
    ...(tls === undefined ? {} : { tls }),
    limits,
    behindProxy: flags.behindProxy ?? false,
    address: { type: "tcp", host: flags.host, port },
    token: token.type === "token" ? token.token : undefined,
    allowedOrigins: flags.allowOrigin ?? [],
    allowedHosts: flags.allowHost ?? [],
    protectedBranches: flags.protect ?? [],
    // A command that is not staged could read files of another user.
    commands: users !== undefined && commands === "auto" ? "staged" : commands,
    ...(flags.metrics === undefined ? {} : { metricsAddress: flags.metrics }),
    ...(release === undefined ? {} : { releaseDirectory: release }),
    pageDirectory: pageDirectory(),
    announce: users === undefined,
    shared: flags.shared ?? false,
    log,
    environment: console.environment,
  };
  let place = options;
  let stopped: Promise<NodeJS.Signals> | undefined;
  const left = flags.quitWithStdin === true ? [inputEnds(console.input)] : [];
  for (;;) {
    const anew = Promise.withResolvers<"anew">();
    const onRestartNeeded = (): void => anew.resolve("anew");
    await using server = await startSomewhere({ ...place, onRestartNeeded }, flags, console, interrupts);
    await using rina = rinaPort === undefined ? undefined : await openRinaPort(rinaPort, server, log);
    // If nobody may read the output, it must not contain a way in: an editor writes its server's output to a file.
    const link = (flags.shared === true ? undefined : server.pageLink()) ?? server.url;
    const facts: BannerFacts = {
      version,
      workspace,
      isSample,
      settings,
      link,
      sandbox: server.sandbox,
      stages: await server.stagesUsed(),
      url: server.url,
      rinaUrl: rina?.url,
      encryption: tls !== undefined ? "tls" : flags.behindProxy === true ? "proxy" : "none",
      token:
        token.type === "none"
          ? users === undefined
            ? { type: "none" }
            : { type: "of-each-user", issuer: flags.issuer ?? "" }
          : {
              type: token.source,
              place:
                token.source === "file" ? (tokenFile ?? "") : join(stateDir, "servers", `${server.port ?? 0}.json`),
              shown: flags.authToken === true ? token.token : undefined,
              weak: token.weak,
            },
      command: commandName(console.environment),
    };
    if (log.format === "json") log.info(`Listening on ${server.url}`, { version, url: server.url });
    else console.output.write(serveBanner(facts, paintFor(console.output, console.environment)));
    if (server.metricsUrl !== undefined) log.info(`Metrics are at ${server.metricsUrl}`);
    using _renewal = renewOnHangup(async () => {
      await server.renewTls();
      log.info("The certificate was read again.");
    }, log);
    await using _opened =
      flags.open === true && place === options ? await openInBrowser(link, { stateDir, console }) : undefined;
    const ended = new AbortController();
    stopped ??= new Promise((stop) => interrupts.listen(stop));
    const signal = await Promise.race([
      stopped,
      anew.promise,
      ...left,
      ...(idle === undefined ? [] : [server.idleFor(idle, ended.signal).then(() => "idle" as const)]),
    ]);
    ended.abort();
    if (signal === "anew") {
      log.info("Starting again, to make the copy of the log anew.");
      place = { ...options, address: { type: "tcp", host: flags.host, port: server.port ?? port } };
      continue;
    }
    log.info(stopWords[signal] ?? "Stopping … (again to leave at once)");
    if (signal === "SIGTERM") await server.drain(drain);
    // A turn that began in this very moment runs to its end.
    if (signal === "idle") await server.drain(lastTurnMs);
    return exitCode.ok;
  }
}

const stopWords: Readonly<Record<string, string>> = {
  idle: "Stopping: nobody needed this server.",
  left: "Stopping: who started this server is gone.",
};

/** Milliseconds for a turn that began just as the idle server was ending. */
const lastTurnMs = 10 * 60_000;

/** Listens where the user wants; if that port is taken, on the next free one if the user agrees. */
/** Loaded only for those who still use it. */
async function openRinaPort(port: number, { plans, manager }: RunningServer, log: ServerOptions["log"]) {
  const { openRina } = await import("@gennai/rina/open-rina");
  const report = (error: unknown): void => log.error("A request of the RinaWarp port failed unexpectedly.", error);
  return openRina({ port, version, plans, manager, report }).catch((error: unknown) => {
    if (error instanceof PortTakenError)
      throw usageError(`Port ${port} is taken.`, "Choose another one with --rina-port.");
    throw error;
  });
}

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
    throw new CliError(`Port ${flags.port} on ${flags.host} is taken.`, {
      exitCode: exitCode.usage,
      next: [
        freePort === undefined
          ? "Choose another port with --port."
          : `Port ${freePort} is free: ${commandName(console.environment)} serve --port ${freePort}`,
        "If it is a Gennai server of yours, gennai open shows its page, and gennai run uses it.",
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

/** Throws `CliError` for options that make sense for one user only. */
function refuseOfOneUser(flags: ServeFlags, console: Console): void {
  const contradicting = [
    flags.workspace !== undefined && "--workspace",
    flags.authToken === true && "--auth-token",
    flags.authTokenFile !== undefined && "--auth-token-file",
    (console.environment["GENNAI_AUTH_TOKEN"] ?? "") !== "" && "GENNAI_AUTH_TOKEN",
    flags.rinaPort !== undefined && "--rina-port",
    flags.open === true && "--open",
    flags.shared === true && "--shared",
  ].find((each) => each !== false);
  if (contradicting === undefined) return;
  throw usageError(`${contradicting} is for a server of one user.`, "Leave it out, or leave out --auth oidc.");
}

/** Renews the certificate at SIGHUP, which programs that write certificates send. */
function renewOnHangup(renew: () => Promise<void>, log: ServerOptions["log"]): Disposable {
  const onHangup = (): void => {
    renew().catch((error: unknown) => log.error("The certificate could not be renewed; the old one stays.", error));
  };
  process.on("SIGHUP", onHangup);
  return {
    [Symbol.dispose]: () => {
      process.off("SIGHUP", onHangup);
    },
  };
}

function parsePort(text: string, name: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  throw usageError(
    `${name} takes a number from 0 to 65535, not ${JSON.stringify(text)}.`,
    `For example: ${name} ${name === "--port" ? 7777 : 8787}; 0 takes any free port.`,
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Directory of the program's own files: beside the bundle. undefined if it runs from source. */
function releaseDirectory(): string | undefined {
  const here = import.meta.dirname;
  return existsSync(join(here, "page")) ? here : undefined;
}

/** Directory of the built page: beside the bundle or, from source, where its own build writes it. */
function pageDirectory(): string {
  const release = releaseDirectory();
  return release === undefined ? join(import.meta.dirname, "../../../../repl/dist") : join(release, "page");
}
