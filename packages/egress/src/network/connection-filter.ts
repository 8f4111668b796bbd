import { once } from "node:events";
import type { Socket } from "node:net";
import type { AllowedEndpoint } from "@gennai/governance/connection";
import { type Endpoint, endpointOf, isLoopback } from "@gennai/governance/endpoint";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ConnectionBook } from "./connection-book.ts";
import { allowing, type Outside, wayOut } from "./way-out.ts";

/** Milliseconds until an address that does not answer is given up. */
const connectTimeoutMs = 15_000;

const nothingThere = "Nothing listens there that a command may reach.";

export interface ReachedOutside {
  readonly socket: Socket;
  /** Counts bytes that did not pass through `join`. */
  add(sent: number, received: number): void;
}

/** Decides about every connection that commands of a network want, and records it in the books of the running commands. */
export class ConnectionFilter {
  readonly #allowed: readonly AllowedEndpoint[];
  readonly #outside: Outside;
  /** Each book, with whether its command goes on beside others. */
  readonly #books = new Map<ConnectionBook, boolean>();
  readonly #open = new Set<Socket>();
  #withdrawn: readonly Endpoint[] = [];
  #closed = false;

  constructor(allowed: readonly AllowedEndpoint[], outside: Outside) {
    // An endpoint in an unknown form cannot be reached by anyone.
    this.#allowed = allowed.flatMap((one) => {
      const known = endpointOf(one.host, one.port);
      return known === undefined ? [] : [{ ...one, ...known }];
    });
    this.#outside = outside;
  }

  get allowed(): readonly AllowedEndpoint[] {
    return this.#allowed;
  }

  /**
   * Records everything in this book too, until it is closed. In the book of a lasting command, only what happens while no other
   * command runs, because the origin of a request is unknown.
   */
  open(book: ConnectionBook, { lasts = false } = {}): void {
    this.#books.set(book, lasts);
  }

  shut(book: ConnectionBook): void {
    this.#books.delete(book);
  }

  /** From now on these are reached no more; nobody is asked about them. */
  withdraw(endpoints: readonly Endpoint[]): void {
    this.#withdrawn = endpoints;
  }

  /** Records a refused attempt to reach an endpoint. */
  refuse({ host, port }: Endpoint, reason: string): void {
    this.#note({ host, port, state: "refused", reason });
  }

  /**
   * Connects to an endpoint, if that is allowed; undefined if it was refused or unreachable, as recorded in the book.
   * @param login of the user that is used there, in words
   */
  async reach(wanted: Endpoint, login?: string): Promise<ReachedOutside | undefined> {
    const { host, port } = wanted;
    const allowed = allowing(wanted, this.#allowed);
    // Gennai itself is never reached, whatever was allowed. Before a question it is unknown where a name leads.
    if (this.#outside.isOwn(host, port) || (allowed === undefined && this.#isUnserved(wanted))) {
      this.#note({ host, port, state: "failed", reason: nothingThere });
      return undefined;
    }
    if (allowed === undefined) {
      this.#note({ host, port, state: "refused", reason: "Nobody allowed this connection." });
      return undefined;
    }
    if (this.#closed) {
      this.#note({ host, port, state: "failed", reason: "The run reaches nobody any more." });
      return undefined;
    }
    if (this.#withdrawn.some((one) => allowing(one, [allowed]) !== undefined)) {
      const reason = "Scripts that this run fetched may not reach the host they came from.";
      this.#note({ host, port, state: "failed", reason });
      return undefined;
    }
    const way = await wayOut(allowed, this.#outside);
    if (way.type === "private" && !this.#outside.isOwn(way.address, port)) {
      const reason = "The name leads to an address in a private network of this machine.";
      this.#note({ host, port, state: "refused", address: way.address, reason });
      return undefined;
    }
    if (way.type === "moved") {
      this.#note({
        host,
        port,
        state: "refused",
        reason: "The name now leads to another address than the one you agreed to.",
      });
      return undefined;
    }
    let reason = way.type === "unknown-host" ? way.reason : nothingThere;
    for (const address of way.type === "open" ? way.addresses : []) {
      if (this.#outside.isOwn(address, port)) continue;
      try {
        const socket = await this.#connect(address, port);
        const answer = allowed.answer === undefined ? {} : { answer: allowed.answer };
        const used = login === undefined ? {} : { login };
        const { add } = this.#note({ host, port, state: "allowed", address, ...answer, ...used });
        return { socket, add };
      } catch (error) {
        reason = errorMessage(error);
      }
    }
    this.#note({ host, port, state: "failed", reason });
    return undefined;
  }

  /** Joins a command's connection to the endpoint that it wants; or ends it at once, as if nothing listened there. */
  async join(inside: Socket, wanted: Endpoint): Promise<void> {
    inside.on("error", () => inside.destroy());
    const reached = await this.reach(wanted);
    if (reached === undefined) {
      inside.resetAndDestroy();
      return;
    }
    joinSockets(inside, reached);
  }

  /** Ends all open connections; from now on nobody is reached. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#open) socket.destroy();
  }

  #isUnserved(wanted: Endpoint): boolean {
    return isLoopback(wanted) && this.#outside.served(new Set([wanted.port])).length === 0;
  }

  #note(kind: Parameters<ConnectionBook["note"]>[0]): Pick<ReachedOutside, "add"> {
    const passing = [...this.#books].filter(([, lasts]) => !lasts);
    const notes = (passing.length > 0 ? passing : [...this.#books]).map(([book]) => book.note(kind));
    return {
      add: (sent, received) => {
        for (const note of notes) note.add(sent, received);
      },
    };
  }

  async #connect(address: string, port: number): Promise<Socket> {
    const socket = this.#outside.connect(address, port);
    // Set for the connection's whole life: an error without a listener would end this process.
    socket.on("error", () => socket.destroy());
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(connectTimeoutMs) });
      if (this.#closed) throw new Error("The command has ended.");
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }
}

/** Passes bytes both ways until both sides have ended. */
export function joinSockets(inside: Socket, { socket, add }: ReachedOutside): void {
  // The command may have closed its side while this process connected.
  if (inside.destroyed) socket.destroy();
  for (const [one, other] of [
    [inside, socket],
    [socket, inside],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroySoon());
  }
  inside.on("data", (bytes: Buffer) => add(bytes.length, 0));
  socket.on("data", (bytes: Buffer) => add(0, bytes.length));
  inside.pipe(socket).pipe(inside);
}
