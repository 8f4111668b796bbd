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
import { finished } from "node:stream";
import { connect as tlsConnect } from "node:tls";
import { callbackify } from "node:util";
import {
  type AddedLogin,
  type AskToSend,
  type ComparedMeaning,
  isPlainPath,
  type LoginRequest,
  type LoginUse,
  pretended,
  type RequestMeaning,
} from "./added-login.ts";
import { formsOf, withoutTexts } from "./answer-filter.ts";
import type { ConnectionFilter, ReachedOutside } from "./connection-filter.ts";
import { HeldBytes, type HeldClaim, heldBody, maxHeld } from "./held-body.ts";
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

/** What of a request is sent. */
interface SentRequest {
  /** With its query. */
  readonly path: string;
  /** Absent: it goes on without the login. */
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** `rest`: what has not come yet follows; `length` of all, where it is known. */
  readonly body?: { readonly bytes: Buffer; readonly rest: boolean; readonly length: string | undefined };
}

/**
 * Answers a run in place of a host, and sends its requests on with a login that the run never sees. What only reads goes on at
 * once; what would change something waits for a yes to exactly that. Everything else is refused. Searches the host's answers for
 * the login.
 */
export class LoginGateway implements Disposable {
  readonly login: AddedLogin;
  readonly #filter: ConnectionFilter;
  readonly #ask: AskToSend;
  readonly #server: Server;
  readonly #agent: HttpAgent;
  readonly #forbidden: readonly string[];
  /** Each function records the bytes of one connection since its last call. */
  readonly #counts = new Set<() => void>();
  readonly #closing = new AbortController();
  readonly #held = new HeldBytes();

  /** @param ask for what would change something @param certificates for a host with TLS */
  constructor(login: AddedLogin, filter: ConnectionFilter, ask: AskToSend, certificates?: RunCertificates) {
    this.login = login;
    this.#filter = filter;
    this.#ask = ask;
    this.#forbidden = formsOf(login.secrets);
    this.#agent = this.#outside();
    const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
      this.answer(incoming, response, incoming.url ?? "");
    };
    // A request may wait for a person.
    const limits = { maxHeaderSize: 64 * 1024, requestTimeout: 0 };
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
    for (const stream of [incoming, response]) stream.on("error", () => incoming.socket.destroy());
    this.#answer(incoming, response, path).catch(() => incoming.socket.destroy());
  }

  /** From now on nothing is sent. */
  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#agent.destroy();
    this.#server.closeAllConnections();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse, whole: string): Promise<void> {
    const request = requestOf(incoming, whole);
    const use = request && this.login.use(request);
    if (request === undefined || use === undefined) {
      this.#refuse(incoming, response, `With ${this.login.login}, ${incoming.method} of that address is refused.`);
      return;
    }
    const isAsked = says(request.headers["authorization"], this.login.placeholder);
    const said = {
      path: `${request.path}${request.query}`,
      authorization: isAsked || use.unasked === true ? use.authorization : undefined,
      headers: forwarded(request, use),
    };
    if (use.body === undefined) {
      incoming.resume();
      this.#send(incoming, response, said);
      return;
    }
    const claim = this.#held.claim();
    // Until it is sent, and answered.
    finished(response, () => claim[Symbol.dispose]());
    const { meaning: found, bytes, isWhole } = await heldBody(incoming, use.body, claim);
    const meaning = found.type === "compares" ? await this.#compare(found, use, claim) : found;
    const why = await this.#whyNot(meaning, said.authorization, response);
    if (why !== undefined) {
      if (why !== pretended) return this.#refuse(incoming, response, why);
      // What comes behind a success that was none reaches nobody.
      this.#filter.close();
      return this.#answerAlone(response, 201);
    }
    const sent = (meaning.type !== "refused" && meaning.body) || bytes;
    const length = isWhole ? String(sent.length) : request.headers["content-length"];
    const hasBody = !isWhole || sent.length > 0 || !isReading(incoming.method);
    this.#send(incoming, response, { ...said, ...(hasBody && { body: { bytes: sent, rest: !isWhole, length } }) });
  }

  /** Why a request is not sent. */
  async #whyNot(
    meaning: RequestMeaning,
    authorization: string | undefined,
    response: ServerResponse,
  ): ReturnType<AskToSend> {
    if (meaning.type === "reads") return undefined;
    if (meaning.type === "refused") return meaning.why;
    if (authorization === undefined) return "It would change something without the login that was agreed to.";
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once("close", leave);
    try {
      const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
      const { endpoint, login } = this.login;
      const { what, pretends, follows } = meaning;
      const more = { ...(pretends && { pretends }), ...(follows !== undefined && { follows }) };
      const refusal = await this.#ask({ endpoint, login, what, ...more, signal });
      return signal.aborted ? "The command ended before the answer came." : refusal;
    } finally {
      response.off("close", leave);
    }
  }

  #refuse(incoming: IncomingMessage, response: ServerResponse, why: string, status = 403): void {
    // What the run still sends is read and dropped, so that it reads the answer.
    incoming.resume();
    const { host, port } = this.login.endpoint;
    this.#filter.refuse({ host, port }, why);
    if (response.destroyed) return;
    const isJson = /json/.test(incoming.headers["content-type"] ?? "");
    response
      .writeHead(status, { "Content-Type": isJson ? "application/json" : "text/plain" })
      .end(isJson ? JSON.stringify({ error: why, message: why }) : `${why}\n`);
  }

  /** What the program keeps of an earlier answer is still so. */
  #rehearse(incoming: IncomingMessage, response: ServerResponse, known: string | undefined): void {
    const { "if-none-match": tag, "if-modified-since": time } = incoming.headers;
    const isKept = tag !== undefined || time !== undefined;
    if (known === undefined && !isKept) return this.#refuse(incoming, response, nobodyYet, 404);
    this.#answerAlone(response, known === undefined ? 304 : 200, known);
  }

  /** Nothing is sent to the host. */
  #answerAlone(response: ServerResponse, status: number, known?: string): void {
    this.#filter.refuse(this.login.endpoint, nobodyYet);
    response.writeHead(status).end(known);
  }

  #send(incoming: IncomingMessage, response: ServerResponse, sent: SentRequest): void {
    if (this.#closing.signal.aborted) return void incoming.socket.destroy();
    if (this.login.rehearses !== undefined) return this.#rehearse(incoming, response, this.login.rehearses(sent.path));
    const headers: Record<string, string> = {
      ...sent.headers,
      ...this.#addressed(),
      ...(sent.authorization === undefined ? {} : { Authorization: sent.authorization }),
      ...(sent.body === undefined ? {} : lengthOf(sent.body)),
    };
    const giveUp = (status: number): void => {
      outgoing.destroy();
      if (response.headersSent) incoming.socket.destroy();
      else response.writeHead(status).end();
    };
    const outgoing = request({
      method: incoming.method,
      path: sent.path,
      headers,
      agent: this.#agent,
      setDefaultHeaders: false,
    });
    outgoing.on("error", () => giveUp(502));
    response.on("close", () => outgoing.destroy());
    outgoing.on("response", (answer) => this.#pass(answer, response, giveUp));
    outgoing.on("upgrade", () => giveUp(502));
    if (sent.body !== undefined) outgoing.write(sent.body.bytes);
    if (sent.body?.rest === true) incoming.pipe(outgoing);
    else outgoing.end();
  }

  /** Reads a document of the host, for this process alone. Refused where it is not known whether there is one. */
  async #compare(compared: ComparedMeaning, { authorization }: LoginUse, claim: HeldClaim): Promise<RequestMeaning> {
    if (this.login.rehearses !== undefined) return compared.read(undefined);
    const { path, query } = compared;
    const unknown = (why: string): RequestMeaning => ({
      type: "refused",
      why: `What is there now could not be compared: ${why}.`,
    });
    const asked = query === undefined ? {} : { method: "POST" };
    const json =
      query === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(query) };
    const headers = { ...this.#addressed(), ...json, Authorization: authorization };
    const outgoing = request({ ...asked, path, agent: this.#agent, headers });
    outgoing.end(query);
    const chunks: Buffer[] = [];
    let status: number | undefined;
    try {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing
          .once("response", resolve)
          .once("error", reject)
          .once("close", () => reject(new Error("The connection was closed.")));
      });
      status = answer.statusCode;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        if (!claim.take(chunk.length, maxHeld)) return unknown("it is too long");
      }
    } catch {
      return unknown("the connection to the host failed");
    } finally {
      outgoing.destroy();
    }
    if (status === 404 || status === 410) return compared.read(undefined);
    return status === 200 ? compared.read(Buffer.concat(chunks)) : unknown(`the host answered ${status}`);
  }

  /** Headers of every request. */
  #addressed(): Readonly<Record<string, string>> {
    const { endpoint, isTls } = this.login;
    const literal = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
    return {
      Host: endpoint.port === (isTls ? 443 : 80) ? literal : `${literal}:${endpoint.port}`,
      // A compressed answer cannot be searched.
      "Accept-Encoding": "identity",
    };
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
        coding === "identity" ? holdsLogin : "The host packs its answer, though it was told not to.",
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

  /** Makes the connections to the host, each of which is recorded. */
  #outside(): HttpAgent {
    const { endpoint, isTls, login, trusted } = this.login;
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 16 });
    const connect = async (): Promise<Socket> => {
      const reached = await this.#filter.reach(endpoint, login);
      if (reached === undefined) throw new Error("The host could not be reached.");
      this.#follow(reached);
      if (!isTls) return reached.socket;
      const { host } = endpoint;
      const name = isIP(host) === 0 ? { servername: host } : {};
      const ca = trusted.length === 0 ? {} : { ca: [...usualAuthorities(), ...trusted] };
      const secure = tlsConnect({ socket: reached.socket, host, ...name, ...ca, ALPNProtocols: ["http/1.1"] });
      return new Promise((resolve, reject) => {
        secure.once("secureConnect", () => resolve(secure));
        secure.once("error", reject);
        secure.once("close", () => reject(new Error("The connection ended before it was encrypted.")));
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

/** Undefined if servers could read its address, or its login, in different ways. */
function requestOf({ method = "", headersDistinct }: IncomingMessage, whole: string): LoginRequest | undefined {
  const [given = "", ...more] = whole.split(/(?=\?)/);
  const query = more.join("");
  // As some servers treat several slashes as one, they get one.
  const path = given.replaceAll(/\/{2,}/g, "/");
  if (!isPlainPath(path) || !/^(?:\?[\x21-\x7e]*)?$/.test(query) || query.includes("#")) return undefined;
  if ((headersDistinct["authorization"]?.length ?? 0) > 1) return undefined;
  const headers = Object.fromEntries(
    Object.entries(headersDistinct).flatMap(([name, values]) => (values?.length === 1 ? [[name, values[0]]] : [])),
  );
  return { method, path, query, headers };
}

/** Whether an `Authorization` says the placeholder: as it is, as a token, or as the password or name of a user. */
function says(authorization: string | undefined, placeholder: string): boolean {
  const [, pair] = /^basic ([a-z0-9+/=_-]+)$/i.exec(authorization ?? "") ?? [];
  return (pair === undefined ? (authorization ?? "") : Buffer.from(pair, "base64").toString()).includes(placeholder);
}

function forwarded({ headers }: LoginRequest, { headers: more = [] }: LoginUse): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && (passedOn.has(name) || more.includes(name)) ? [[name, value]] : [],
    ),
  );
}

/** No body, not even an empty one, goes with it. */
function isReading(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}

function lengthOf({ length }: NonNullable<SentRequest["body"]>): Readonly<Record<string, string>> {
  return length === undefined ? { "Transfer-Encoding": "chunked" } : { "Content-Length": length };
}

const nobodyYet = "Nobody allowed this connection.";
const holdsLogin = "What the host answered holds the login.";
