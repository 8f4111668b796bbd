import type { Connection } from "@gennai/governance/network/connection";
import { MirroredPorts } from "@gennai/machine/background/mirrored-ports";
import type { CommandRun } from "@gennai/machine/process/run-command";
import type { SessionNetwork } from "@gennai/machine/stage/keeper/session-network";
import { type RunWatch, watchRun } from "@gennai/machine/staged-shell/run/network-of-run";
import type { StagedSurroundings } from "@gennai/machine/staged-shell/run/run-staged";

/** Where a run in the background is, and what it wants to reach from there. */
export class RunNetwork implements AsyncDisposable {
  readonly network: SessionNetwork;
  readonly environment: Readonly<Record<string, string>>;
  readonly resolver: string | undefined;
  readonly #watch: RunWatch;
  /** Of a network of its own. */
  readonly #mirrored: MirroredPorts | undefined;

  private constructor(watch: RunWatch, network: SessionNetwork, shared: SessionNetwork) {
    this.#watch = watch;
    this.network = network;
    this.environment = watch.environment;
    this.resolver = watch.resolver;
    const isOurs = (port: number): boolean => watch.listensOnLoopback(port);
    this.#mirrored = network === shared ? undefined : new MirroredPorts(network, shared, isOurs);
  }

  /** The session's, or one of its own where a person let something through: that way is for this run alone. */
  static async open(
    text: string,
    where: Required<Pick<StagedSurroundings, "network">> & Omit<Parameters<typeof watchRun>[1], "network" | "lasts">,
  ): Promise<RunNetwork> {
    const shared = where.network;
    if (shared === undefined) throw new Error("The session has no network.");
    const watch = await watchRun(text, { ...where, lasts: true });
    return new RunNetwork(watch, watch.network ?? shared.network, shared.network);
  }

  /** So far. @param run by what it printed, where it has ended */
  connections(run: Pick<CommandRun, "exitCode" | "output"> = { exitCode: 0, output: "" }): readonly Connection[] {
    return this.#watch.connections(run);
  }

  /** Lets commands of the session reach what the run listens at by now. */
  async renewPorts(): Promise<void> {
    await this.#mirrored?.renew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mirrored?.[Symbol.asyncDispose]();
    this.#watch[Symbol.dispose]();
  }
}
