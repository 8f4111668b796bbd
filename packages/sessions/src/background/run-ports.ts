import { ToolFailure } from "@gennai/governance/tool-error";
import type { OpenPort } from "@gennai/shell/background/open-port";

/** A port in a run's network, and the loopback port of this machine that leads to it. */
export interface PortPair {
  readonly port: number;
  readonly local: number;
}

/** Maximum open ports of one run. */
const most = 8;

/** The ports that users opened for one run. After `close`, none is open and none can be opened. */
export class RunPorts {
  readonly #open = new Map<number, { readonly pair: PortPair; readonly opened: OpenPort }>();
  #opening = 0;
  #isClosed = false;

  list(): readonly PortPair[] {
    return [...this.#open.values()].map(({ pair }) => pair);
  }

  /** Throws `ToolFailure` `background_not_found`, and what `start` throws. @param start opens the port on this machine */
  async open(port: number, start: () => Promise<OpenPort>): Promise<PortPair> {
    if (this.#isClosed || this.#open.size + this.#opening >= most) throw cannotOpen(port);
    this.#opening += 1;
    try {
      const opened = await start();
      if (this.#isClosed) {
        await opened.close();
        throw cannotOpen(port);
      }
      const pair = { port, local: opened.port };
      this.#open.set(pair.local, { pair, opened });
      return pair;
    } finally {
      this.#opening -= 1;
    }
  }

  /** Closes one port. */
  async closeOne({ local }: PortPair): Promise<void> {
    const known = this.#open.get(local);
    this.#open.delete(local);
    await known?.opened.close();
  }

  /** Call it when the run has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.list().map((pair) => this.closeOne(pair)));
  }
}

/** The error if the run has ended or has too many open ports. */
export function cannotOpen(port: number): ToolFailure {
  return new ToolFailure("background_not_found", `Port ${port} of this background command cannot be opened.`, {
    hint: `The command must run, and have fewer than ${most} open ports.`,
  });
}
