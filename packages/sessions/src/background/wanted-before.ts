import type { AllowedEndpoint, Connection } from "@gennai/governance/network/connection";
import { sameEndpoint } from "@gennai/governance/network/endpoint";
import { maxEndpoints, refusedEndpoints } from "@gennai/governance/network/refused-endpoints";

/** Commands that are remembered; the one that ran longest ago is forgotten first. */
const most = 100;

/** What commands of a session wanted to reach, for the one who starts the same again. */
export class WantedBefore {
  /** By the command's text. */
  readonly #wanted = new Map<string, readonly AllowedEndpoint[]>();

  of(text: string): readonly AllowedEndpoint[] {
    return this.#wanted.get(text) ?? [];
  }

  /** What it was let reach that time was wanted before, and stays so. */
  note(text: string, connections: readonly Connection[]): void {
    const more = refusedEndpoints(connections);
    const wanted = [...this.of(text).filter((one) => !more.some((other) => sameEndpoint(one, other))), ...more];
    this.#wanted.delete(text);
    if (wanted.length > 0) this.#wanted.set(text, wanted.slice(0, maxEndpoints));
    const [oldest] = this.#wanted.keys();
    if (this.#wanted.size > most && oldest !== undefined) this.#wanted.delete(oldest);
  }
}
