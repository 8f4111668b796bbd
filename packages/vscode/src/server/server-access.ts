import type { Interceptor } from "@connectrpc/connect";
import { proveServer } from "@gennai/client/connection/prove-server";
import * as vscode from "vscode";
import { realPathOf } from "../editor/real-path.ts";
import type { HeldApprovals } from "../plan/plan-interceptor.ts";
import type { GennaiSettings } from "../settings/settings.ts";
import { type FindPorts, type FindRequest, findServer } from "./find-server.ts";
import { launchCommand } from "./launch-command.ts";
import { decideLaunch } from "./launch-decision.ts";
import type { ModelKeyStore } from "./model-key-store.ts";
import type { ServerConnection } from "./server-connection.ts";
import { launchServer } from "./server-launcher.ts";
import { type LinkState, ServerLink } from "./server-link.ts";
import { NoServerError, type ServerProblem } from "./server-problem.ts";
import { serversHere, thisMachine } from "./this-machine.ts";
import type { TokenStore } from "./token-store.ts";

export interface ServerAccessOptions {
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly settings: () => GennaiSettings;
  readonly tokens: TokenStore;
  readonly modelKeys: ModelKeyStore;
  readonly log: vscode.LogOutputChannel;
  readonly interceptors: readonly Interceptor[];
  readonly approvals: HeldApprovals;
  readonly onState: (state: LinkState) => void;
}

/** Finds the server of this window, and starts one when the user wants that. */
export class ServerAccess implements Disposable {
  readonly link: ServerLink;
  readonly #options: ServerAccessOptions;
  readonly #ports: FindPorts;
  readonly #closing = new AbortController();
  #declined = false;
  #launching: Promise<void> | undefined;

  constructor(options: ServerAccessOptions) {
    this.#options = options;
    const { log, tokens, interceptors, approvals, onState } = options;
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
      interceptors,
      approvals,
      onState: (state) => {
        if (state.type === "connected") void this.#handModelKeys();
        onState(state);
      },
    });
  }

  /** A server to work with; offers to start one where none runs. Rejects with `NoServerError`. */
  async connect(): Promise<ServerConnection> {
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

  /** Starts a server because the user said so, unless one runs. Rejects with `NoServerError`. */
  async start(): Promise<void> {
    const decision = decideLaunch({ ...this.#launchFacts(), asked: true });
    if (decision.type === "refuse") throw new NoServerError({ type: "launch-refused", reason: decision.reason });
    if (!(await this.#isRunning())) await this.#launch();
  }

  /** True when another server is to be used than the one of the connection. */
  async hasMoved(): Promise<boolean> {
    const request = await this.#request();
    if ("type" in request) return false;
    const found = await findServer(request, this.#ports);
    return found.type === "found" && found.url !== this.link.connection?.url;
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
      const handed = await modelKeys.handOver(connection.url, connection.agent);
      if (handed.length > 0) log.info(`Handed the server your keys for ${handed.join(", ")}.`);
    } catch (error) {
      log.warn(
        `Your model keys could not be handed to the server: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async #request(): Promise<FindRequest | ServerProblem> {
    const { folder, settings } = this.#options;
    if (!vscode.workspace.isTrusted) return { type: "untrusted" };
    if (folder === undefined) return { type: "no-folder" };
    const { baseUrl, serverPort } = settings();
    // Without a disk there is no server on this machine to be found.
    if (!thisMachine.hasDisk) return { baseUrl, port: serverPort, workspace: folder.uri.path };
    if (folder.uri.scheme !== "file") return { type: "no-folder" };
    return { baseUrl, port: serverPort, workspace: await realPathOf(folder.uri.fsPath) };
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
    const { serverPort } = this.#options.settings();
    const choice = await vscode.window.showInformationMessage(
      `No Gennai server runs for this workspace. Start one with \`gennai serve --port ${serverPort}\` in the terminal?`,
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
    const { folder, log, settings } = this.#options;
    if (folder === undefined) throw new NoServerError({ type: "no-folder" });
    const { serverCommand, serverPort, sandbox, stages, protectedBranches } = settings();
    const workspace = folder.uri.fsPath;
    const command = launchCommand({ serverCommand, port: serverPort, workspace, sandbox, stages, protectedBranches });
    log.info(`Starting ${command.program} ${command.args.join(" ")}`);
    const outcome = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: "Starting the Gennai server" },
      () => launchServer(command, folder, () => this.#isRunning(), { signal: this.#closing.signal }),
    );
    if (outcome.type === "running") return;
    const exitCode = outcome.type === "ended" ? outcome.exitCode : undefined;
    throw new NoServerError({
      type: "launch-failed",
      command: `${command.program} ${command.args[0] ?? ""}`,
      exitCode,
    });
  }
}
