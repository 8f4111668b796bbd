import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { AllowedEndpoint, Connection } from "@gennai/governance/connection";
import { type Endpoint, endpointOf, isLoopback } from "@gennai/governance/endpoint";
import { OneByOne } from "@gennai/machine/one-by-one";
import { SessionNetwork } from "@gennai/stage/mount/session-network";
import type { AddedLogin, AskToSend } from "./added-login.ts";
import { ConnectionBook } from "./connection-book.ts";
import { ConnectionFilter } from "./connection-filter.ts";
import { httpProxy } from "./http-proxy.ts";
import { type InsideAddress, listenInside } from "./listen-inside.ts";
import { LoginGateways } from "./login-gateways.ts";
import { asksForAddress, nameAnswer, parseNameQuery } from "./name-message.ts";
import { networkEnvironment } from "./network-environment.ts";
import { type Outside, theInternet } from "./way-out.ts";

/** Not 127.0.0.1, where commands' own servers listen. */
const door = "127.0.0.53";
const proxyPort = 61_080;

/** Content of `/etc/resolv.conf` in such a network. */
export const resolverSettings = `nameserver ${door}\noptions timeout:10 attempts:1\n`;

/** Ports, for each name, on which connections of programs without proxy support are seen, besides those in a command's text. */
const usualPorts: readonly number[] = [
  ...[22, 80, 443, 873, 3000, 4222, 4873, 5000, 8000, 8080, 8081, 8443, 9000, 9418],
  ...[1433, 3306, 5432, 5672, 6379, 9092, 9200, 11_211, 27_017],
];

/** Ports of services that mostly run beside the command and not in its network. */
const servicePorts: readonly number[] = [1433, 3306, 4222, 4873, 5432, 5672, 6379, 9092, 9200, 11_211, 27_017];

const refusing: AskToSend = () => Promise.resolve("With a login, nothing is changed here.");

/** Names that commands may look up at the same time. */
const maxNames = 40;

/**
 * Connections of commands, and questions to the name server, that may be open at the same time. Each costs this process memory,
 * and may cost a descriptor.
 */
const maxOpen = 256;

/** Milliseconds within which a client of the proxy has to send its request. */
const requestTimeoutMs = 30_000;

export interface WatchedNetworkOptions {
  /** Absolute path. */
  readonly bubblewrap: string;
  /** Endpoints that may be reached; none by default. */
  readonly allowed?: readonly AllowedEndpoint[];
  /** Logins for some of `allowed`: this process makes the requests there. */
  readonly logins?: readonly AddedLogin[];
  /** Asks about what would change something with one of them; without it, that is refused. */
  readonly ask?: AskToSend | undefined;
  readonly outside?: Outside | undefined;
}

/** One command's use of a network: what it wanted to reach, and what became of that. */
export interface NetworkUse extends Disposable {
  connections(): readonly Connection[];
  /** Names that were looked up without a connection being seen: the port is unknown. */
  onlyLookedUp(): readonly string[];
}

/**
 * A network for commands, with a loopback, whose only way out is this process, which sees each connection. A connection that
 * nobody allowed is refused at once, and recorded. Names resolve to addresses of the loopback, so that programs without proxy
 * support are seen too; no name server outside is asked before a connection was allowed.
 */
export class WatchedNetwork implements Disposable {
  readonly network: SessionNetwork;
  readonly #outside: Outside;
  readonly #filter: ConnectionFilter;
  readonly #proxy: HttpServer;
  #gateways: LoginGateways | undefined;
  readonly #allowedPorts: readonly number[];
  readonly #uses = new Map<
    ConnectionBook,
    { readonly ports: readonly number[]; readonly names: Set<string>; readonly lasts: boolean }
  >();
  readonly #names = new Map<string, Promise<string | undefined>>();
  #namesGiven = 0;
  /** Closed with the network; those for names and for ports in a command's text are closed when no command runs. */
  readonly #lasting: { close(): unknown }[] = [];
  #passing: { close(): unknown }[] = [];
  readonly #loopback = new Set<number>();
  readonly #opening = new OneByOne<"names">();
  #open = 0;
  #asked = 0;
  #closed = false;

  private constructor(network: SessionNetwork, { allowed = [], outside = theInternet }: WatchedNetworkOptions) {
    this.network = network;
    this.#outside = outside;
    this.#filter = new ConnectionFilter(allowed, outside);
    this.#proxy = httpProxy(this.#filter, (endpoint) => this.#gateways?.to(endpoint));
    this.#allowedPorts = this.#filter.allowed.map(({ port }) => port);
  }

  /** Throws `StageUnavailable`, and `Error` if nothing can listen in the network. */
  static async open(options: WatchedNetworkOptions): Promise<WatchedNetwork> {
    const watched = new WatchedNetwork(await SessionNetwork.open(options.bubblewrap), options);
    try {
      watched.#gateways = await LoginGateways.open(options.logins ?? [], watched.#filter, options.ask ?? refusing);
      await watched.#listen();
      return watched;
    } catch (error) {
      watched[Symbol.dispose]();
      throw error;
    }
  }

  /** Environment of a command so that its connections are seen, and it gives up at once if they are refused. */
  get environment(): Readonly<Record<string, string>> {
    return networkEnvironment(`http://${door}:${proxyPort}`, { hasWayOut: this.#allowedPorts.length > 0 });
  }

  /** The authority for this process in place of registries, in PEM. */
  get authority(): string | undefined {
    return this.#gateways?.authority;
  }

  /** Call it before a command starts. @param ports in its text @param lasts whether it goes on beside others */
  async use(ports: readonly number[] = [], { lasts = false } = {}): Promise<NetworkUse> {
    const book = new ConnectionBook();
    const names = new Set<string>();
    this.#uses.set(book, { ports, names, lasts });
    this.#filter.open(book, { lasts });
    const close = (): void => {
      this.#filter.shut(book);
      this.#uses.delete(book);
      // A lasting command can look a name up again; the names of all commands beside it would become too many.
      if ([...this.#uses.values()].every((use) => use.lasts)) this.#forgetNames();
    };
    try {
      await this.#listenForServices(ports, this.#passing);
    } catch (error) {
      close();
      throw error;
    }
    return {
      connections: () => book.list(),
      onlyLookedUp: () => {
        const seen = new Set(book.list().map(({ host }) => host));
        return [...names].filter((name) => !seen.has(name));
      },
      [Symbol.dispose]: close,
    };
  }

  /** @see ConnectionFilter.withdraw */
  withdraw(endpoints: readonly Endpoint[]): void {
    this.#filter.withdraw(endpoints);
    // Their connections stay open for the next request.
    this.#gateways?.[Symbol.dispose]();
  }

  /** The ports that are served outside of the network. */
  served(among: ReadonlySet<number>): readonly number[] {
    return this.#outside.served(among);
  }

  /** Whether a connection to that loopback port would be seen. */
  listensOnLoopback(port: number): boolean {
    return this.#loopback.has(port);
  }

  /** Gives up the network; it is gone when its last process has ended. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#filter.close();
    this.#forgetNames();
    this.#gateways?.[Symbol.dispose]();
    for (const one of this.#lasting) one.close();
    this.#proxy.closeAllConnections();
    this.network[Symbol.dispose]();
  }

  async #listen(): Promise<void> {
    const at = { address: door, port: proxyPort };
    const { servers, datagrams } = await listenInside(this.network, {
      tcp: [at],
      udp: { address: door, port: 53 },
      accept: (socket) => {
        if (!this.#admits(socket)) return;
        socket.setTimeout(requestTimeoutMs, () => socket.destroy());
        this.#proxy.emit("connection", socket);
      },
    });
    const [proxy] = servers;
    if (datagrams !== undefined) this.#lasting.push(datagrams);
    if (proxy === undefined || datagrams === undefined) throw new Error("The network of the session has no listener.");
    this.#lasting.push(proxy.server);
    for (const name of ["request", "connect"]) {
      this.#proxy.prependListener(name, ({ socket }: IncomingMessage) => socket.setTimeout(0));
    }
    datagrams.on("message", (message, { port, address }) => {
      if (this.#asked >= maxOpen) return;
      this.#asked += 1;
      this.#answer(message)
        .then((answer) => answer && !this.#closed && datagrams.send(answer, port, address, () => undefined))
        // The client gives up after a while; a message from port 0 cannot be answered.
        .catch(() => undefined)
        .finally(() => {
          this.#asked -= 1;
        });
    });
    const allowed = this.#filter.allowed.filter(isLoopback).map(({ port }) => port);
    await this.#listenOnLoopback(allowed, this.#lasting);
    await this.#listenForServices(servicePorts, this.#lasting);
  }

  /**
   * Listens on the ports that other programs of the machine serve on its loopback; outside of the network, a command could not
   * use these ports either.
   */
  async #listenForServices(ports: readonly number[], into: { close(): unknown }[]): Promise<void> {
    const missing = new Set(ports.filter((port) => !this.#loopback.has(port)));
    await this.#listenOnLoopback(missing.size === 0 ? [] : this.served(missing), into);
  }

  async #listenOnLoopback(ports: readonly number[], into: { close(): unknown }[]): Promise<void> {
    if (ports.length === 0) return;
    const tcp = ports.flatMap((port) => ["127.0.0.1", "::1"].map((address) => ({ address, port })));
    const accept = (socket: Socket, { port }: InsideAddress): void => this.#serve(socket, "127.0.0.1", port);
    for (const { at, server } of (await listenInside(this.network, { tcp, accept })).servers) {
      this.#loopback.add(at.port);
      into.push({
        close: () => {
          this.#loopback.delete(at.port);
          server.close();
        },
      });
    }
  }

  async #answer(message: Buffer): Promise<Buffer | undefined> {
    const query = parseNameQuery(message);
    if (query === undefined) return undefined;
    if (!asksForAddress(query)) return nameAnswer(query, "none");
    const wanted = endpointOf(query.name, 80);
    if (wanted === undefined) return nameAnswer(query, "unknown");
    if (isLoopback(wanted)) return nameAnswer(query, { address: "127.0.0.1" });
    for (const { names } of this.#uses.values()) if (names.size < maxNames) names.add(wanted.host);
    const address = await this.#addressOf(wanted.host);
    return nameAnswer(query, address === undefined ? "unknown" : { address });
  }

  /** A loopback address for a name, used for no other name, on which this process listens. */
  #addressOf(name: string): Promise<string | undefined> {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= maxNames || this.#uses.size === 0) return Promise.resolve(undefined);
    this.#namesGiven = (this.#namesGiven % 60_000) + 1;
    const address = `127.77.${this.#namesGiven >> 8}.${this.#namesGiven & 255}`;
    const named = [...this.#uses.values()].flatMap(({ ports }) => ports);
    const ports = [...new Set([...usualPorts, ...named, ...this.#allowedPorts])];
    const given = this.#listenAt(
      name,
      ports.map((port) => ({ address, port })),
    ).then(() => address);
    this.#names.set(name, given);
    return given;
  }

  async #listenAt(name: string, tcp: readonly InsideAddress[]): Promise<void> {
    const accept = (socket: Socket, { port }: InsideAddress): void => this.#serve(socket, name, port);
    // Each call starts a process for a moment.
    const servers = await this.#opening.run("names", async () =>
      this.#uses.size === 0 ? [] : (await listenInside(this.network, { tcp, accept })).servers,
    );
    for (const { server } of servers) {
      if (this.#closed || this.#uses.size === 0) server.close();
      this.#passing.push(server);
    }
  }

  #serve(socket: Socket, host: string, port: number): void {
    if (!this.#admits(socket)) return;
    const gateway = this.#gateways?.to({ host, port });
    if (gateway === undefined) this.#filter.join(socket, { host, port }).catch(() => socket.destroy());
    else gateway.serve(socket);
  }

  /** False if too many connections are open: the socket is then closed. */
  #admits(socket: Socket): boolean {
    if (this.#open >= maxOpen) {
      socket.on("error", () => undefined);
      socket.resetAndDestroy();
      return false;
    }
    this.#open += 1;
    socket.once("close", () => {
      this.#open -= 1;
    });
    return true;
  }

  #forgetNames(): void {
    const passing = this.#passing;
    this.#passing = [];
    this.#names.clear();
    for (const one of passing) one.close();
  }
}
