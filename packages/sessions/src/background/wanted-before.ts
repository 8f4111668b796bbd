import type { AllowedEndpoint, Connection } from "@gennai/governance/connection";
import { sameEndpoint } from "@gennai/governance/endpoint";
import { maxEndpoints, refusedEndpoints } from "@gennai/governance/network/refused-endpoints";

/** Commands remembered; the one that ran longest ago is forgotten first. */
const most = 100;

/** What a session's commands wanted to reach, for asking when the same command starts again. */
export class WantedBefore {
  /** By the command's text. */
  readonly #wanted = new Map<string, readonly AllowedEndpoint[]>();

  of(text: string): readonly AllowedEndpoint[] {
    return this.#wanted.get(text) ?? [];
  }

  /** What the command was allowed to reach that time stays in the list. */
  note(text: string, connections: readonly Connection[]): void {
    const more = refusedEndpoints(connections);
    const wanted = [...this.of(text).filter((one) => !more.some((other) => sameEndpoint(one, other))), ...more];
    this.#wanted.delete(text);
    if (wanted.length > 0) this.#wanted.set(text, wanted.slice(0, maxEndpoints));
    const [oldest] = this.#wanted.keys();
    if (this.#wanted.size > most && oldest !== undefined) this.#wanted.delete(oldest);
  }
}
