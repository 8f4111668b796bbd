import { once } from "node:events";
import { createServer, type Server as HttpServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";

/** A public address that belongs to nobody here. */
export const publicAddress = "93.184.216.34";

/** An `Outside` that replaces the internet: names, and servers of this process at their addresses. */
export class TestOutside implements Disposable {
  readonly names = new Map<string, readonly string[]>();
  /** By `ADDRESS:PORT`; the port of this machine's loopback. */
  readonly servers = new Map<string, number>();
  /** Names that were looked up. */
  readonly asked: string[] = [];
  /** `ADDRESS:PORT` that were connected to. */
  readonly reached: string[] = [];
  readonly #closing: (() => void)[] = [];

  async lookup(host: string): Promise<readonly string[]> {
    this.asked.push(host);
    const found = this.names.get(host);
    if (found === undefined) throw new Error(`getaddrinfo ENOTFOUND ${host}`);
    return found;
  }

  connect(address: string, port: number): Socket {
    this.reached.push(`${address}:${port}`);
    return connect({ host: "127.0.0.1", port: this.servers.get(`${address}:${port}`) ?? 1 });
  }

  served(among: ReadonlySet<number>): readonly number[] {
    return [...among].filter((port) => this.servers.has(`127.0.0.1:${port}`));
  }

  /** Its servers represent foreign ones, although all are in this process. */
  isOwn(): boolean {
    return false;
  }

  /** A host with one server. */
  host(name: string, port: number, server: Server, address = publicAddress): void {
    this.names.set(name, [address]);
    this.servers.set(`${address}:${port}`, portOf(server));
  }

  /** A host with pages. @returns what was asked for, as `METHOD HOST PATH` */
  async pages(
    name: string,
    port: number,
    answer: (request: IncomingMessage) => { status?: number; headers?: Record<string, string>; body?: string | Buffer },
    address?: string,
  ): Promise<readonly string[]> {
    const asked: string[] = [];
    const server: HttpServer = createServer((request, response) => {
      asked.push(`${request.method} ${request.headers.host} ${request.url}`);
      const { status = 200, headers = {}, body = "" } = answer(request);
      response.writeHead(status, headers).end(body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    this.host(name, port, server, address);
    return asked;
  }

  [Symbol.dispose](): void {
    for (const close of this.#closing.splice(0)) close();
  }
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}
