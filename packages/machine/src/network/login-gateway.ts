import {
  createServer,
  Agent as HttpAgent,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { isIP, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { callbackify } from "node:util";
import { type AddedLogin, isPlainPath } from "./added-login.ts";
import { formsOf, withoutTexts } from "./answer-filter.ts";
import type { ConnectionFilter, ReachedOutside } from "./connection-filter.ts";
import type { RunCertificates } from "./run-authority.ts";
import { usualAuthorities } from "./usual-authorities.ts";

/**
 * Headers of a run's request that are forwarded. Excluded: headers that change the request, a login of the run's own, and ranges,
 * because the login could come back split over several answers.
 */
const passedOn: ReadonlySet<string> = new Set(
  "accept accept-language user-agent if-none-match if-modified-since cache-control pragma".split(" "),
);

/** Headers of an answer that the run does not get: those of one connection, and of a session of the login. */
const keptBack =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|alt-svc|set-cookie2?|authentication-info)$/i;

/**
 * Answers a run in place of a registry, and requests packages there by GET and HEAD, with a login that the run never sees.
 * Searches the registry's answers for the login.
 */
export class LoginGateway implements Disposable {
  readonly login: AddedLogin;
  readonly #filter: ConnectionFilter;
  readonly #server: Server;
  readonly #agent: HttpAgent;
  readonly #forbidden: readonly string[];
  /** Each function records the bytes of one connection since its last call. */
  readonly #counts = new Set<() => void>();

  /** @param certificates for a registry with TLS */
  constructor(login: AddedLogin, filter: ConnectionFilter, certificates?: RunCertificates) {
    this.login = login;
    this.#filter = filter;
    this.#forbidden = formsOf(login.secrets);
    this.#agent = this.#outside();
    const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
      this.answer(incoming, response, incoming.url ?? "");
    };
    const limits = { maxHeaderSize: 64 * 1024 };
    this.#server =
      certificates === undefined
        ? createServer(limits, answer)
        : createTlsServer(
            { ...limits, cert: certificates.certificate, key: certificates.key, ALPNProtocols: ["http/1.1"] },
            answer,
          );
    this.#server.on("clientError", (_error, socket) => socket.destroy());
    this.#server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
    this.#server.on("connect", (_incoming, socket) => socket.destroy());
  }

  /** Serves a connection: from now on the run speaks with this process. */
  serve(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    this.#server.emit("connection", socket);
  }

  /** @param path with its query */
  answer(incoming: IncomingMessage, response: ServerResponse, path: string): void {
    incoming.resume();
    for (const stream of [incoming, response]) stream.on("error", () => incoming.socket.destroy());
    const refusal = refusedRequest(incoming, path);
    const authorization = refusal === undefined ? this.login.authorizationFor(path) : undefined;
    if (authorization === undefined) {
      const { host, port } = this.login.endpoint;
      const why = refusal ?? noPackage;
      this.#filter.refuse({ host, port }, why);
      response.writeHead(403, { "Content-Type": "text/plain" }).end(`${why}\n`);
      return;
    }
    this.#ask(incoming, response, { path, authorization });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#server.closeAllConnections();
  }

  #ask(
    incoming: IncomingMessage,
    response: ServerResponse,
    { path, authorization }: { readonly path: string; readonly authorization: string },
  ): void {
    const { endpoint, isTls } = this.login;
    const literal = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
    const headers: Record<string, string> = {
      Host: endpoint.port === (isTls ? 443 : 80) ? literal : `${literal}:${endpoint.port}`,
      Authorization: authorization,
      // A compressed answer cannot be searched.
      "Accept-Encoding": "identity",
    };
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (passedOn.has(name) && typeof value === "string") headers[name] = value;
    }
    const giveUp = (status: number): void => {
      outgoing.destroy();
      if (response.headersSent) incoming.socket.destroy();
      else response.writeHead(status).end();
    };
    const outgoing = request({ method: incoming.method, path, headers, agent: this.#agent, setDefaultHeaders: false });
    outgoing.on("error", () => giveUp(502));
    response.on("close", () => outgoing.destroy());
    outgoing.on("response", (answer) => this.#pass(answer, response, giveUp));
    outgoing.on("upgrade", () => giveUp(502));
    outgoing.end();
  }

  #pass(answer: IncomingMessage, response: ServerResponse, giveUp: (status: number) => void): void {
    const { statusCode = 502, rawHeaders, headers } = answer;
    answer.on("error", () => giveUp(502));
    const raw: string[] = [];
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
      if (!keptBack.test(name)) raw.push(name, value);
    }
    const said = raw.join("\n");
    const { endpoint } = this.login;
    const coding = headers["content-encoding"] ?? "identity";
    if (this.#forbidden.some((text) => said.includes(text)) || coding !== "identity") {
      this.#filter.refuse(
        endpoint,
        coding === "identity" ? holdsLogin : "The registry packs its answer, though it was told not to.",
      );
      giveUp(502);
      return;
    }
    const filter = withoutTexts(this.#forbidden);
    filter.on("error", () => {
      this.#filter.refuse(endpoint, holdsLogin);
      giveUp(502);
    });
    try {
      response.writeHead(statusCode, raw);
    } catch {
      giveUp(502);
      return;
    }
    answer.on("data", () => this.#count());
    answer.pipe(filter).pipe(response);
  }

  /** Makes the connections to the registry, each of which is recorded. */
  #outside(): HttpAgent {
    const { endpoint, isTls, login, trusted } = this.login;
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 16 });
    const connect = async (): Promise<Socket> => {
      const reached = await this.#filter.reach(endpoint, login);
      if (reached === undefined) throw new Error("It was not reached.");
      this.#follow(reached);
      if (!isTls) return reached.socket;
      const { host } = endpoint;
      const name = isIP(host) === 0 ? { servername: host } : {};
      const ca = trusted.length === 0 ? {} : { ca: [...usualAuthorities(), ...trusted] };
      const secure = tlsConnect({ socket: reached.socket, host, ...name, ...ca, ALPNProtocols: ["http/1.1"] });
      return new Promise((resolve, reject) => {
        secure.once("secureConnect", () => resolve(secure));
        secure.once("error", reject);
        secure.once("close", () => reject(new Error("It ended before it was secured.")));
      });
    };
    const connectLater = callbackify(connect);
    // Node also accepts a connection later; its types do not say so.
    return Object.assign(agent, {
      createConnection: (_options: unknown, done: (error: Error | null, socket: Socket) => void) => connectLater(done),
    });
  }

  #follow({ socket, add }: ReachedOutside): void {
    let [sent, received] = [0, 0];
    const count = (): void => {
      add(socket.bytesWritten - sent, socket.bytesRead - received);
      [sent, received] = [socket.bytesWritten, socket.bytesRead];
    };
    this.#counts.add(count);
    socket.once("close", () => {
      count();
      this.#counts.delete(count);
    });
  }

  /** Counts open connections too: a command may end and be reported before its connections end. */
  #count(): void {
    for (const count of this.#counts) count();
  }
}

function refusedRequest({ method = "" }: IncomingMessage, path: string): string | undefined {
  if (method !== "GET" && method !== "HEAD")
    return `With a login, packages are read and nothing else: ${method} is refused.`;
  return isPlainPath(path) ? undefined : noPackage;
}

const noPackage = "With a login, nothing but packages is read.";
const holdsLogin = "What the registry answered holds the login.";
