import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds between two questions whether a server is ready. */
const askEvery = 200;

/**
 * A minimal load balancer: gives each connection to the next server that reported ready, and to another one if that does not
 * answer.
 */
export class Balancer implements AsyncDisposable {
  readonly #ready = new Set<number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #stop = new AbortController();
  readonly #asking: Promise<void>;
  #ports: readonly number[] = [];
  #next = 0;

  private constructor() {
    this.#server = createServer((socket) => this.#handOn(socket, this.#candidates()));
    this.#asking = this.#ask();
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve) => balancer.#server.listen(0, "127.0.0.1", resolve));
    return balancer;
  }

  get port(): number {
    const address = this.#server.address() as AddressInfo;
    return address.port;
  }

  /** Ports of the servers, in the order of their turns. */
  balance(ports: readonly number[]): void {
    this.#ports = ports;
  }

  /** Whether it hands anything to this server just now. */
  uses(port: number): boolean {
    return this.#ready.has(port);
  }

  /** Ends every connection; clients come again. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#asking;
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #candidates(): readonly number[] {
    const from = this.#next % Math.max(1, this.#ports.length);
    this.#next = from + 1;
    const inOrder = [...this.#ports.slice(from), ...this.#ports.slice(0, from)];
    return inOrder.filter((port) => this.#ready.has(port));
  }

  #handOn(client: Socket, [port, ...others]: readonly number[]): void {
    this.#keep(client);
    client.on("error", () => client.destroy());
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, "127.0.0.1");
    this.#keep(server);
    const refused = (): void => this.#handOn(client, others);
    server.once("error", refused);
    server.once("connect", () => {
      server.off("error", refused);
      server.on("error", () => client.destroy());
      client.on("close", () => server.destroy());
      server.on("close", () => client.destroy());
      client.pipe(server).pipe(client);
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  async #ask(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await Promise.all(
        this.#ports.map(async (port) => {
          const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(
            () => undefined,
          );
          await response?.body?.cancel();
          if (response?.status === 200) this.#ready.add(port);
          else this.#ready.delete(port);
        }),
      );
      await delay(askEvery, undefined, { signal }).catch(() => undefined);
    }
  }
}
