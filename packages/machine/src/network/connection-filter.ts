import { once } from "node:events";
import type { Socket } from "node:net";
import type { AllowedEndpoint } from "@gennai/governance/network/connection";
import { type Endpoint, endpointOf, isLoopback } from "@gennai/governance/network/endpoint";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ConnectionBook } from "./connection-book.ts";
import { allowing, type Outside, wayOut } from "./way-out.ts";

/** Milliseconds until an address that does not answer is given up. */
const connectTimeoutMs = 15_000;

const nothingThere = "Nothing listens there that a command may reach.";

export interface ReachedOutside {
  readonly socket: Socket;
  /** Notes bytes that went through by another way than `join`. */
  add(sent: number, received: number): void;
}

/** Decides about every connection that commands of a network want, and has the books of those that run now say so. */
export class ConnectionFilter {
  readonly #allowed: readonly AllowedEndpoint[];
  readonly #outside: Outside;
  /** With the word whether each is of a command that runs beside others. */
  readonly #books = new Map<ConnectionBook, boolean>();
  readonly #open = new Set<Socket>();
  #closed = false;

  constructor(allowed: readonly AllowedEndpoint[], outside: Outside) {
    // What is in no known form is reached by nobody.
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
   * Until it is closed, everything is also recorded in this book; in that of a lasting command only what happens while no other
   * runs, because the origin of a request is unknown.
   */
  open(book: ConnectionBook, { lasts = false } = {}): void {
    this.#books.set(book, lasts);
  }

  shut(book: ConnectionBook): void {
    this.#books.delete(book);
  }

  /** Records a refused attempt to reach an endpoint. */
  refuse({ host, port }: Endpoint, reason: string): void {
    this.#note({ host, port, state: "refused", reason });
  }

  /**
   * Connects to an endpoint, if allowed; undefined if refused or unreachable, as recorded in the book.
   * @param login of the user that is used there, in words
   */
  async reach(wanted: Endpoint, login?: string): Promise<ReachedOutside | undefined> {
    const { host, port } = wanted;
    const allowed = allowing(wanted, this.#allowed);
    // Nobody is asked whether a command may reach Gennai; and before a question, it is not known what a name leads to.
    if (this.#outside.isOwn(host, port) || (allowed === undefined && this.#isUnserved(wanted))) {
      this.#note({ host, port, state: "failed", reason: nothingThere });
      return undefined;
    }
    if (allowed === undefined || this.#closed) {
      this.#note({ host, port, state: "refused", reason: "Nobody let it through." });
      return undefined;
    }
    const way = await wayOut(allowed, this.#outside);
    if (way.type === "private" && !this.#outside.isOwn(way.address, port)) {
      const reason = "Its name leads to an address of this machine's own networks.";
      this.#note({ host, port, state: "refused", address: way.address, reason });
      return undefined;
    }
    if (way.type === "moved") {
      this.#note({ host, port, state: "refused", reason: "Its name leads to another address than was agreed to." });
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

  /** Joins what the command opened to what it wants; or ends it at once, as if nobody were there. */
  async join(inside: Socket, wanted: Endpoint): Promise<void> {
    inside.on("error", () => inside.destroy());
    const reached = await this.reach(wanted);
    if (reached === undefined) {
      inside.resetAndDestroy();
      return;
    }
    joinSockets(inside, reached);
  }

  /** Ends what is open. */
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
    // For as long as it is there: between two who listen, an error would end this process.
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

/** Both ways, to the end of both. */
export function joinSockets(inside: Socket, { socket, add }: ReachedOutside): void {
  // The one who wanted it may have gone while it was connected.
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
