import type { WatchedNetwork } from "@gennai/egress/network/watched-network";
import { backgroundUnavailable } from "@gennai/shell/background/background-run";
import type { Stages } from "@gennai/shell/stages/stages";

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
