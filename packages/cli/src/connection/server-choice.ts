import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import {
  type AgentClient,
  connect,
  connectGovernance,
  connectPlans,
  type GovernanceClient,
  openTransport,
  type PlanClient,
  tracedBy,
} from "@gennai/client/connection/connection";
import { lackingIsolation } from "@gennai/client/connection/isolation-promise";
import { announcedServers } from "@gennai/client/node/announced-servers";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import { usageError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { loadServer, type OwnServerRequest, startOwnServer } from "./own-server.ts";
import { provenServers } from "./proven-servers.ts";
import { announcedToken, proves, type TokenSource, tokenFor } from "./server-token.ts";

/** Which server to use, and the options of a server of our own. */
export interface ServerRequest extends OwnServerRequest, TokenSource {
  /** `auto`: a running server of this workspace, else one of our own; `own`; or a URL. */
  readonly server: string;
  /** W3C `traceparent` of the person who runs the command. */
  readonly traceParent?: string;
  readonly signal: AbortSignal;
}

/** Options that every command has about its server. */
export interface ServerFlags {
  readonly server: string;
  readonly authTokenFile?: string;
  /** The files stay here, and the server reaches them only through this command. */
  readonly localFiles?: boolean;
}

/** A request for a command that starts no turn. */
export function serverRequest(
  flags: ServerFlags,
  place: Pick<ServerRequest, "workspace" | "stateDir" | "signal">,
): ServerRequest {
  return {
    ...place,
    server: flags.server,
    model: {},
    protectedBranches: [],
    ...(flags.authTokenFile === undefined ? {} : { tokenFile: flags.authTokenFile }),
  };
}

/** A server to work with. Disposing ends it if it is our own. */
export interface ChosenServer extends AsyncDisposable {
  readonly client: AgentClient;
  /** Client of the service for rules, intents and emergency controls, on the same server. */
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
  /** Empty for our own, which listens nowhere. */
  readonly url: string;
  readonly isOwn: boolean;
}

/** Throws `CliError` if no server fits the request. */
export async function chooseServer(asked: ServerRequest, console: Console): Promise<ChosenServer> {
  // Other tools pass the trace of a command on in this variable.
  const traceParent = console.environment["TRACEPARENT"] || undefined;
  const request = traceParent === undefined ? asked : { ...asked, traceParent };
  switch (request.server) {
    case "own":
      return startOwn(request, console);
    case "auto":
      return (await findRunning(request)) ?? startOwn(request, console);
    default:
      return connectTo(request, console);
  }
}

/**
 * A server on which turns run: one of our own gets the options, one of others must keep what they promise. Rejects with `CliError`.
 * @param place.isHeld the server reaches the files only through this command, so no command is staged
 */
export async function turnServer(
  flags: ServerFlags & { readonly protect?: readonly string[] },
  {
    commands,
    model,
    isHeld = false,
    ...place
  }: Pick<ServerRequest, "workspace" | "stateDir" | "signal" | "model"> & {
    /** What the flags say; undefined: whatever the server does. */
    readonly commands?: CommandsMode | undefined;
    readonly isHeld?: boolean;
  },
  console: Console,
): Promise<ChosenServer> {
  const request = { ...serverRequest(flags, place), model, protectedBranches: flags.protect ?? [] };
  const server = await chooseServer({ ...request, ...(commands === undefined ? {} : { commands }) }, console);
  if (commands !== undefined && !isHeld) await requireIsolation(server, commands, place.signal);
  return server;
}

/** Begins to load the server's modules if `chooseServer` will probably start one. */
export async function loadAhead({ server, stateDir }: Pick<ServerRequest, "server" | "stateDir">): Promise<void> {
  const isOwn = server === "own" || (server === "auto" && (await announcedServers(stateDir)).servers.length === 0);
  // Whoever needs the modules reports why they cannot be loaded.
  if (isOwn) loadServer().catch(() => undefined);
}

/** Enforces `staged` for a server of others, which may have other settings. Rejects with `CliError` if it has. */
export async function requireIsolation(
  server: Pick<ChosenServer, "client" | "url" | "isOwn">,
  commands: CommandsMode,
  signal: AbortSignal,
): Promise<void> {
  if (commands !== "staged" || server.isOwn) return;
  const lacking = lackingIsolation(await server.client.getServerInfo({}, { signal }), commands);
  if (lacking === undefined) return;
  throw usageError(
    `The server at ${server.url} ${lacking}`,
    `Use --server own, or start that server with --commands staged.`,
  );
}

/** A running server that works on this workspace and proves its identity. */
async function findRunning(request: ServerRequest): Promise<ChosenServer | undefined> {
  const { stateDir, workspace, signal } = request;
  for await (const { url, token } of provenServers(stateDir, { workspace }, { signal })) {
    return running(url, token, request, () => announcedToken(url, request));
  }
  return undefined;
}

async function connectTo(request: ServerRequest, console: Console): Promise<ChosenServer> {
  const url = parseServerUrl(request.server);
  const token = await tokenFor(url, request, console);
  if (token !== undefined) await assertProves(url, token, request.signal);
  return running(url, token, request, () => tokenFor(url, request, console));
}

/** Any program may listen on the port: it must prove that it knows the token before it gets the token. Throws `CliError`. */
export async function assertProves(url: string, token: string, signal?: AbortSignal): Promise<void> {
  if (await proves(url, token, signal)) return;
  throw usageError(
    `${url} does not answer as a Gennai server that knows this token.`,
    "Start one with `gennai serve`, or check the URL and the token (GENNAI_AUTH_TOKEN, --auth-token-file).",
    "A server of many users is reached by https.",
    "To reach a server by another host name, start it with --allow-host.",
  );
}

/** The origin of a server's URL. Throws `CliError`. */
export function parseServerUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw usageError(
    `--server takes auto, own or a URL, not ${JSON.stringify(text)}.`,
    "For example: --server http://127.0.0.1:7777",
  );
}

async function startOwn(request: ServerRequest, console: Console): Promise<ChosenServer> {
  const server = await startOwnServer(request, console);
  const { traceParent } = request;
  return {
    ...clientsOver(server.transport(traceParent === undefined ? [] : [tracedBy(traceParent)])),
    url: "",
    isOwn: true,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** @param findToken finds the present token: a restarted server may have another one */
function running(
  url: string,
  token: string | undefined,
  { signal, traceParent }: Pick<ServerRequest, "signal" | "traceParent">,
  findToken: () => Promise<string | undefined>,
): ChosenServer {
  const renewToken = async (): Promise<string> => {
    const known = await findToken();
    if (known !== undefined && (await proves(url, known, signal))) return known;
    throw new ConnectError(`The program at ${url} does not prove that it is the Gennai server.`, Code.Unavailable);
  };
  return {
    ...clientsOf({ url, token, renewToken, traceParent }),
    url,
    isOwn: false,
    [Symbol.asyncDispose]: async () => {},
  };
}

type Clients = Pick<ChosenServer, "client" | "governance" | "plans">;

function clientsOf({
  url,
  token,
  renewToken,
  traceParent,
}: {
  readonly url: string;
  readonly token: string | undefined;
  readonly renewToken: () => Promise<string>;
  readonly traceParent: string | undefined;
}): Clients {
  return clientsOver(
    openTransport({
      baseUrl: url,
      ...(token === undefined ? {} : { token }),
      renewToken,
      ...(traceParent === undefined ? {} : { traceParent }),
    }),
  );
}

function clientsOver(transport: Transport): Clients {
  const shared = { baseUrl: "", transport };
  return { client: connect(shared), governance: connectGovernance(shared), plans: connectPlans(shared) };
}
