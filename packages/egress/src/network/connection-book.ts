import type { Connection } from "@gennai/governance/connection";
import { endpointName, sameEndpoint } from "@gennai/governance/endpoint";

/**
 * Kinds of connections that are told apart, for each state and command. Further ones are added to the last kind with the same
 * endpoint, or to the last kind.
 */
const maxKinds = 200;

type Kind = Omit<Connection, "count" | "sent" | "received">;

/** The connections of a command, and what became of them. */
export class ConnectionBook {
  readonly #byKind = new Map<string, { kind: Kind; count: number; sent: number; received: number }>();

  /** Records a connection. @returns counts its bytes from then on */
  note(kind: Kind): { add(sent: number, received: number): void } {
    const key = `${kind.state} ${endpointName(kind)} ${kind.address ?? ""} ${kind.login ?? ""} ${kind.state === "refused" ? (kind.reason ?? "") : ""}`;
    const known = this.#byKind.get(key) ?? this.#new(key, kind);
    known.count += 1;
    return {
      add: (sent, received) => {
        known.sent += sent;
        known.received += received;
      },
    };
  }

  list(): readonly Connection[] {
    return [...this.#byKind.values()].map(({ kind, ...counts }) => ({ ...kind, ...counts }));
  }

  #new(key: string, kind: Kind) {
    // By state: any number of refused connections must not hide an allowed one.
    const alike = [...this.#byKind.values()].filter((known) => known.kind.state === kind.state);
    const last = alike.findLast((known) => sameEndpoint(known.kind, kind)) ?? alike.at(-1);
    if (alike.length >= maxKinds && last !== undefined) return last;
    const counted = { kind, count: 0, sent: 0, received: 0 };
    this.#byKind.set(key, counted);
    return counted;
  }
}
