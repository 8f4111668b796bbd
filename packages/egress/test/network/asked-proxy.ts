import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import type { AllowedEndpoint, Connection } from "@gennai/governance/connection";
import type { AddedLogin, AskToSend } from "#network/added-login";
import { ConnectionBook } from "#network/connection-book";
import { ConnectionFilter } from "#network/connection-filter";
import { httpProxy } from "#network/http-proxy";
import { LoginGateways } from "#network/login-gateways";
import type { Outside } from "#network/way-out";

/** The proxy of commands, listening where a test reaches it: without a network of commands around it. */
export class AskedProxy implements Disposable {
  readonly #book = new ConnectionBook();
  readonly #filter: ConnectionFilter;
  readonly #server: ReturnType<typeof httpProxy>;
  #gateways: LoginGateways | undefined;

  private constructor(outside: Outside, allowed: readonly AllowedEndpoint[]) {
    this.#filter = new ConnectionFilter(allowed, outside);
    this.#filter.open(this.#book);
    this.#server = httpProxy(this.#filter, (endpoint) => this.#gateways?.to(endpoint));
  }

  static async open(
    outside: Outside,
    allowed: readonly AllowedEndpoint[],
    logins: readonly AddedLogin[] = [],
    ask: AskToSend = () => Promise.resolve("Nobody is asked here."),
  ): Promise<AskedProxy> {
    const proxy = new AskedProxy(outside, allowed);
    proxy.#gateways = await LoginGateways.open(logins, proxy.#filter, ask);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** In PEM, where it answers in the place of hosts with TLS. */
  get authority(): string {
    return this.#gateways?.authority ?? "";
  }

  get connections(): readonly Connection[] {
    return this.#book.list();
  }

  /** Sends bytes to it. @returns all that came back until it hung up */
  async send(bytes: string): Promise<string> {
    const socket = connect(this.port, "127.0.0.1");
    socket.write(Buffer.from(bytes, "latin1"));
    return text(socket).catch(() => "");
  }

  /** Waits until a host was reached. */
  async reached(): Promise<void> {
    while (this.connections.every(({ state }) => state !== "allowed"))
      await new Promise((resolve) => setImmediate(resolve));
  }

  get(url: string): Promise<string> {
    return this.send(`GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  }

  [Symbol.dispose](): void {
    this.#gateways?.[Symbol.dispose]();
    this.#filter.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
