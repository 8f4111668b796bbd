import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { proveServer } from "@gennai/client/connection/prove-server";
import { errorMessage } from "@gennai/protocol/error-message";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { workspaceHeader } from "@gennai/protocol/workspace-header";
import * as vscode from "vscode";
import { showInformation, showProgress } from "../editor/notifications.ts";
import { realPathOf } from "../editor/real-path.ts";
import type { GennaiSettings } from "../settings/settings.ts";
import { type FindPorts, type FindRequest, findAt, findServer } from "./find-server.ts";
import { bringsServer, startBroughtServer } from "./launch/brought-server.ts";
import { broughtArguments, launchCommand, protectableBranches } from "./launch/launch-command.ts";
import type { LaunchOutcome } from "./launch/launch-outcome.ts";
import { startInTerminal } from "./launch/terminal-server.ts";
import { decideLaunch } from "./launch-decision.ts";
import type { ModelKeyStore } from "./model-key-store.ts";
import type { ServerConnection } from "./server-connection.ts";
import { type LinkState, ServerLink } from "./server-link.ts";
import { NoServerError, type ServerProblem } from "./server-problem.ts";
import { serversHere, thisMachine } from "./this-machine.ts";
import type { TokenStore } from "./token-store.ts";

export interface ServerAccessOptions {
  /** Absolute paths of this extension, of a directory for its data, and of the editor's own files. */
  readonly places: { readonly extension: string; readonly storage: string; readonly editor: string };
  /** Version of this extension. */
  readonly version: string;
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly settings: () => GennaiSettings;
  readonly tokens: TokenStore;
  readonly modelKeys: ModelKeyStore;
  readonly log: vscode.LogOutputChannel;
  readonly interceptors: readonly Interceptor[];
  readonly onState: (state: LinkState) => void;
}

/** Finds the server of this window, and starts one if the user wants that. */
export class ServerAccess implements Disposable {
  readonly link: ServerLink;
  readonly #options: ServerAccessOptions;
  readonly #ports: FindPorts;
  readonly #closing = new AbortController();
  #declined = false;
  #launching: Promise<void> | undefined;
  /** Set while keys are being sent to the connected server. */
  #handing: Promise<void> | undefined;

  constructor(options: ServerAccessOptions) {
    this.#options = options;
    const { log, tokens, interceptors, onState } = options;
    this.#ports = {
      announced: () => serversHere((file, reason) => log.warn(`${file} was not believed: ${reason}`)),
      storedToken: (url) => tokens.get(url),
      prove: async (url, token) => {
        const proof = await proveServer(url, token, { signal: this.#closing.signal });
        if (proof.type !== "nobody") return proof;
        return { ...proof, reason: proof.reason + thisMachine.whyUnanswered };
      },
    };
    this.link = new ServerLink({
      request: () => this.#request(),
      ports: this.#ports,
      interceptors: [...interceptors, (next) => async (request) => next(await this.#fromHere(request))],
      commands: () => options.settings().commands,
      onState: (state) => {
        if (state.type === "connected") this.#handing = this.#handModelKeys();
        onState(state);
      },
    });
  }

  /** Connects to a server; offers to start one if none runs. Rejects with `NoServerError`. */
  async connect(): Promise<ServerConnection> {
    await this.link.forgetIfGone();
    try {
      return await this.link.connect();
    } catch (error) {
      if (!(error instanceof NoServerError) || error.problem.type !== "not-running") throw error;
      const decision = decideLaunch({ ...this.#launchFacts(), asked: false });
      if (decision.type === "offer" && !(await this.#offer())) throw error;
      if (decision.type === "leave" || decision.type === "refuse") throw error;
      await this.#launch();
      return this.link.connect();
    }
  }

  /**
   * Connects for a call of the REPL. For work, a server is started if none runs any more; a call that only looks waits if one is
   * being started. Rejects with `NoServerError`.
   */
  async connectFor(purpose: "work" | "looking"): Promise<ServerConnection> {
    await this.#launching?.catch(() => undefined);
    if (purpose === "looking") return this.link.connect();
    const connection = await this.connect();
    await this.#handing;
    return connection;
  }

  /** Starts a server because the user asked for it, unless one runs. Rejects with `NoServerError`. */
  async start(): Promise<void> {
    const decision = decideLaunch({ ...this.#launchFacts(), asked: true });
    if (decision.type === "refuse") throw new NoServerError(decision.problem);
    await this.link.forgetIfGone();
    if (this.link.connection === undefined && !(await this.#isRunning())) await this.#launch();
  }

  /** True if another server should be used than the connected one. */
  async hasMoved(): Promise<boolean> {
    const request = await this.#request();
    if ("type" in request) return false;
    const { connection } = this.link;
    // A server that still runs is kept, even if there is a newer one: it has what this window began.
    if (connection !== undefined && (await findAt(connection.url, this.#ports)).type === "found") return false;
    const found = await findServer(request, this.#ports);
    return found.type === "found" && found.url !== connection?.url;
  }

  /** Connects again if the process of a server of this machine has ended, where servers are always started. */
  async startAgain(): Promise<void> {
    const { connection } = this.link;
    if (connection?.isHere !== true || this.#options.settings().autoLaunch !== "always") return;
    // A server that is only slow is still announced.
    if ((await this.#ports.announced()).some(({ url }) => url === connection.url)) return;
    await this.connect();
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    this.link.close();
  }

  async #handModelKeys(): Promise<void> {
    const { connection } = this.link;
    if (connection === undefined) return;
    const { log, modelKeys } = this.#options;
    try {
      const handed = await modelKeys.handOver(connection);
      if (handed.length > 0) log.info(`Handed the server your keys for ${handed.join(", ")}.`);
    } catch (error) {
      log.warn(`Your model keys could not be handed to the server: ${errorMessage(error)}`);
    }
  }

  async #request(): Promise<FindRequest | ServerProblem> {
    const { folder, settings } = this.#options;
    if (!vscode.workspace.isTrusted) return { type: "untrusted" };
    if (folder === undefined) return { type: "no-folder" };
    const { baseUrl, serverPort: port, autoLaunch } = settings();
    // Without a disk, no server of this machine can be found.
    if (!thisMachine.hasDisk)
      return { baseUrl, port, workspace: folder.uri.path, sharing: undefined, startsOwn: false };
    if (folder.uri.scheme !== "file") return { type: "no-folder" };
    const sharing = this.#sharing();
    const startsOwn = sharing !== undefined && autoLaunch !== "never";
    return { baseUrl, port, workspace: await realPathOf(folder.uri.fsPath), sharing, startsOwn };
  }

  /** Options of a server that this window can share with others. */
  #sharing(): FindRequest["sharing"] {
    const { places, version, settings } = this.#options;
    const { serverCommand, commands, protectedBranches } = settings();
    if (serverCommand !== "" || !bringsServer(places.extension)) return undefined;
    return { version, commands, protectedBranches: protectableBranches(protectedBranches) };
  }

  /** Adds where this window works, because the server may be shared. */
  async #fromHere<Request extends { readonly header: Headers }>(request: Request): Promise<Request> {
    const { folder, settings } = this.#options;
    if (folder?.uri.scheme === "file" && thisMachine.hasDisk && settings().baseUrl === "") {
      const path = await realPathOf(folder.uri.fsPath).catch(() => folder.uri.fsPath);
      request.header.set(workspaceHeader, encodeURIComponent(path));
    }
    return request;
  }

  #launchFacts(): Omit<Parameters<typeof decideLaunch>[0], "asked"> {
    const { autoLaunch, baseUrl, serverCommand } = this.#options.settings();
    const hasFolder = this.#options.folder?.uri.scheme === "file";
    return {
      trusted: vscode.workspace.isTrusted,
      hasFolder,
      autoLaunch,
      baseUrl,
      serverCommand,
      declined: this.#declined,
    };
  }

  async #offer(): Promise<boolean> {
    const choice = await showInformation(
      "No Gennai server runs for this workspace. Start one?",
      "Start Server",
      "Not Now",
    );
    this.#declined = choice !== "Start Server";
    return !this.#declined;
  }

  async #isRunning(): Promise<boolean> {
    const request = await this.#request();
    return !("type" in request) && (await findServer(request, this.#ports)).type === "found";
  }

  #launch(): Promise<void> {
    this.#launching ??= this.#launchOnce().finally(() => {
      this.#launching = undefined;
    });
    return this.#launching;
  }

  async #launchOnce(): Promise<void> {
    const { folder, log } = this.#options;
    if (folder === undefined) throw new NoServerError({ type: "no-folder" });
    const outcome = await showProgress(
      { location: vscode.ProgressLocation.Notification, title: "Starting the Gennai server" },
      () => this.#startIn(folder),
    );
    const { serverCommand, nodePath } = this.#options.settings();
    if (outcome.type === "running") return;
    if (outcome.type === "no-node") this.link.notStarted({ type: "no-node", chosen: nodePath });
    if (serverCommand === "" && thisMachine.hasDisk && bringsServer(this.#options.places.extension)) {
      const wrote = outcome.type === "ended" ? (outcome.wrote ?? "") : "";
      log.error(`The server did not start. It wrote:\n${wrote}`);
      this.link.notStarted({ type: "launch-ended", wrote });
    }
    const exitCode = outcome.type === "ended" ? outcome.exitCode : undefined;
    this.link.notStarted({ type: "launch-failed", command: `${serverCommand || "gennai"} serve`, exitCode });
  }

  /** Starts the user's own program if one is set, else the server in the extension. */
  async #startIn(folder: vscode.WorkspaceFolder): Promise<LaunchOutcome> {
    const { log, settings, places } = this.#options;
    const { serverCommand, nodePath, serverPort: port, commands, protectedBranches } = settings();
    const choice = { port, workspace: folder.uri.fsPath, commands, protectedBranches };
    const isRunning = (): Promise<boolean> => this.#isRunning();
    const { signal } = this.#closing;
    if (serverCommand === "" && bringsServer(places.extension)) {
      const args = broughtArguments(choice);
      log.info(`Starting the server of the extension: ${args.join(" ")}`);
      const here = (vscode.workspace.workspaceFolders ?? [folder]).filter(({ uri }) => uri.scheme === "file");
      const folders = await Promise.all(here.map(({ uri }) => realPathOf(uri.fsPath).catch(() => uri.fsPath)));
      return startBroughtServer({ ...places, nodePath, folders, args }, isRunning, { signal });
    }
    const command = launchCommand(serverCommand || "gennai", choice);
    log.info(`Starting ${command.program} ${command.args.join(" ")}`);
    return startInTerminal(command, folder, isRunning, { signal });
  }
}

const { startSession, startTurn, resumeSession } = AgentService.method;
/** Methods by which a person makes the agent work: for these a server is started. */
const beginWork: ReadonlySet<unknown> = new Set([startSession, startTurn, resumeSession]);

/** A transport that connects at its first use. Without a server, calls fail as `Unavailable`, with advice. */
export function linkTransport(access: Pick<ServerAccess, "connectFor">): Transport {
  const transport = async (method: unknown): Promise<Transport> => {
    try {
      return (await access.connectFor(beginWork.has(method) ? "work" : "looking")).transport;
    } catch (error) {
      if (error instanceof NoServerError) throw new ConnectError(error.message, Code.Unavailable);
      throw error;
    }
  };
  return {
    unary: async (...call) => (await transport(call[0])).unary(...call),
    stream: async (...call) => (await transport(call[0])).stream(...call),
  };
}
