import type { WatchedNetwork } from "@gennai/egress/network/watched-network";
import type { Connection } from "@gennai/governance/connection";
import type { CommandRun } from "@gennai/machine/process/run-command";
import { backgroundUnavailable } from "@gennai/shell/background/background-run";
import { MirroredPorts } from "@gennai/shell/background/mirrored-ports";
import { type RunWatch, watchRun } from "@gennai/shell/run/network-of-run";
import type { StagedSurroundings } from "@gennai/shell/run/run-staged";
import type { Stages } from "@gennai/shell/stages/stages";
import type { SessionNetwork } from "@gennai/stage/mount/session-network";

/** The network of a background run, and what it wants to reach. */
export class RunNetwork implements AsyncDisposable {
  readonly network: SessionNetwork;
  readonly environment: Readonly<Record<string, string>>;
  readonly resolver: string | undefined;
  readonly #watch: RunWatch;
  /** Ports mirrored from a separate network. */
  readonly #mirrored: MirroredPorts | undefined;

  private constructor(watch: RunWatch, network: SessionNetwork, shared: SessionNetwork) {
    this.#watch = watch;
    this.network = network;
    this.environment = watch.environment;
    this.resolver = watch.resolver;
    const isOurs = (port: number): boolean => watch.listensOnLoopback(port);
    this.#mirrored = network === shared ? undefined : new MirroredPorts(network, shared, isOurs);
  }

  /** Opens the session's network, or a separate one if a user allowed an endpoint: that access is for this run only. */
  static async open(
    text: string,
    where: Required<Pick<StagedSurroundings, "network">> & Omit<Parameters<typeof watchRun>[1], "network" | "lasts">,
  ): Promise<RunNetwork> {
    const shared = where.network;
    if (shared === undefined) throw new Error("The session has no network.");
    const watch = await watchRun(text, { ...where, lasts: true });
    return new RunNetwork(watch, watch.network ?? shared.network, shared.network);
  }

  /** Connections so far. @param run its exit code and output, once it has ended */
  connections(run: Pick<CommandRun, "exitCode" | "output"> = { exitCode: 0, output: "" }): readonly Connection[] {
    return this.#watch.connections(run);
  }

  /** Makes the ports the run listens on available to the session's commands. */
  async renewPorts(): Promise<void> {
    await this.#mirrored?.renew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mirrored?.[Symbol.asyncDispose]();
    this.#watch[Symbol.dispose]();
  }
}

export interface NetworkContext {
  readonly stages: Pick<Stages, "openNetwork">;
  readonly workspaceRoot: string;
}

/** The network of a session: opened on first use, kept until the session closes. */
export class SharedNetwork implements Disposable {
  #opening: Promise<WatchedNetwork> | undefined;
  #open: WatchedNetwork | undefined;
  #isClosed = false;

  /** Undefined if it is not open. */
  get current(): WatchedNetwork | undefined {
    return this.#open;
  }

  /** Throws `ToolFailure` `background_unavailable`. */
  open({ stages, workspaceRoot }: NetworkContext): Promise<WatchedNetwork> {
    if (this.#isClosed) return Promise.reject(backgroundUnavailable(new Error("the session is closed.")));
    this.#opening ??= stages.openNetwork(workspaceRoot).then(
      (network) => {
        if (this.#isClosed) network[Symbol.dispose]();
        this.#open = network;
        return network;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw backgroundUnavailable(error);
      },
    );
    return this.#opening;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#open?.[Symbol.dispose]();
  }
}
