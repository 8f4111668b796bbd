import { once } from "node:events";
import { createServer } from "node:http";
import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  isHttpsUrl,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { McpError } from "./mcp-error.ts";
import type { KeptLogin, LoginPlace, McpLogins } from "./mcp-logins.ts";
import { openable } from "./mcp-question.ts";

/** A login while a person does it. */
interface Flow {
  readonly redirectUrl: string;
  readonly state: string;
  /** Shows the address at which the person agrees. */
  readonly show: (address: URL) => void;
}

/** Milliseconds that one request of a renewal may take: others wait for its end. */
const renewalTimeout = 30_000;

/** What a turn has of a login: its token, which is renewed without asking, by one of those who find that it ended. */
export function renewedLogin(logins: McpLogins, place: LoginPlace): AuthProvider {
  const provider = new KeptLoginProvider(logins, place);
  let sent: string | undefined;
  return {
    token: async () => {
      sent = (await provider.tokens())?.access_token;
      return sent;
    },
    onUnauthorized: async ({ response, serverUrl, fetchFn }) => {
      const refused = sent;
      await logins.renewing(place, async () => {
        const kept = (await provider.tokens())?.access_token;
        if (kept !== undefined && kept !== refused) return;
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        const outcome = await auth(provider, {
          serverUrl,
          fetchFn: (url, init) => fetchFn(url, { ...init, signal: AbortSignal.timeout(renewalTimeout) }),
          ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
          ...(scope === undefined ? {} : { scope }),
        });
        if (outcome !== "AUTHORIZED") throw new UnauthorizedError();
      });
    },
  };
}

/** The library's view of what is kept of a login. Without a flow it renews tokens and asks nobody. */
class KeptLoginProvider implements OAuthClientProvider {
  readonly #logins: McpLogins;
  readonly #place: LoginPlace;
  readonly #flow: Flow | undefined;
  #verifier = "";

  constructor(logins: McpLogins, place: LoginPlace, flow?: Flow) {
    this.#logins = logins;
    this.#place = place;
    this.#flow = flow;
  }

  get redirectUrl(): string {
    return this.#flow?.redirectUrl ?? "http://127.0.0.1/";
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "Gennai",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  /** Preferred to a registration where the authorization server takes such documents. */
  get clientMetadataUrl(): string | undefined {
    return isHttpsUrl(this.#place.client) ? this.#place.client : undefined;
  }

  state(): string {
    return this.#flow?.state ?? "";
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = this.#place;
    const registered = client === undefined || isHttpsUrl(client) ? undefined : { client_id: client };
    return (await this.#kept())?.client ?? registered;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#keep((login) => ({ ...login, client: { ...client } }));
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.#kept())?.tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#keep((login) => ({ ...login, tokens: { ...tokens }, since: login.since ?? new Date().toISOString() }));
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#kept())?.discovery;
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#keep((login) => ({ ...login, discovery: { ...discovery } }));
  }

  redirectToAuthorization(address: URL): void {
    if (this.#flow === undefined) throw new McpError(loginNeeded(this.#place.name));
    if (openable(address.href) === undefined)
      throw new McpError(`The MCP server ${this.#place.name} wants a login at an address that is not https.`);
    this.#flow.show(address);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "verifier") return;
    await this.#keep(({ client, tokens, discovery, ...rest }) => ({
      ...rest,
      ...(scope === "tokens" || scope === "discovery" ? { client } : {}),
      ...(scope === "client" || scope === "discovery" ? { tokens } : {}),
      ...(scope === "client" || scope === "tokens" ? { discovery } : {}),
    }));
  }

  #kept(): Promise<KeptLogin | undefined> {
    return this.#logins.find(this.#place);
  }

  #keep(change: (login: KeptLogin) => KeptLogin): Promise<void> {
    return this.#logins.keep(this.#place, change);
  }
}

/** What a turn's user is told where a login is missing, or ended. */
export function loginNeeded(name: string): string {
  return `The MCP server ${name} wants a login. Log in under Governance, or at a terminal: mcp login ${name}`;
}

/** @param scope what a login has to be for */
export function moreNeeded(name: string, scope = ""): string {
  return `The MCP server ${name} wants a login for more: mcp login ${name} --scope ${JSON.stringify(scope)}`;
}

export interface LoginPorts {
  readonly logins: McpLogins;
  /** Shows the address at which the person agrees. */
  readonly show: (address: URL) => void;
  /** What the person pastes: the address that their browser ended at. */
  readonly pasted: AsyncIterable<string>;
  /** Records that a login is about to be kept: if it rejects, none is. */
  readonly record: () => Promise<void>;
  /** Scopes to ask for, separated by spaces; the server's own choice without it. */
  readonly scope?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Logs in at an MCP server by OAuth 2.1, with a browser that may be on another machine. Keeps the login. Throws `McpError`, and the
 * library's errors where the servers do not keep to the rules.
 */
export async function logIn(place: LoginPlace, ports: LoginPorts): Promise<void> {
  const { logins, show, scope, signal } = ports;
  const before = await logins.find(place);
  const state = crypto.randomUUID();
  const returned = Promise.withResolvers<URL>();
  const listener = createServer((request, response) => {
    const address = new URL(request.url ?? "/", "http://127.0.0.1");
    const isAnswer = address.pathname === "/callback" && address.searchParams.get("state") === state;
    response.writeHead(isAnswer ? 200 : 404, { "content-type": "text/plain; charset=utf-8" });
    response.end(isAnswer ? "You can close this window: the rest is said where you logged in." : "Nothing is here.");
    if (isAnswer) returned.resolve(address);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  try {
    const at = listener.address();
    const port = typeof at === "object" && at !== null ? at.port : 0;
    const flow = { redirectUrl: `http://127.0.0.1:${port}/callback`, state, show };
    const provider = new KeptLoginProvider(logins, place, flow);
    // Registered anew: the address to return to is another one each time.
    await logins.keep(place, undefined);
    const asked = { serverUrl: place.url, ...(scope === undefined ? {} : { scope }) };
    if ((await auth(provider, asked)) === "AUTHORIZED") return;
    const address = await Promise.race([returned.promise, pastedAnswer(ports.pasted, state), aborted(signal)]);
    const { searchParams } = address;
    const [code, error, iss] = ["code", "error", "iss"].map((name) => searchParams.get(name) ?? undefined);
    if (code === undefined) throw new McpError(`The login at ${place.name} was refused: ${error ?? "without a word"}.`);
    await ports.record();
    await auth(provider, { ...asked, authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
  } catch (error) {
    await logins.keep(place, before && (() => before));
    throw error;
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

const revocable = z.object({
  authorizationServerMetadata: z.object({ revocation_endpoint: z.url({ protocol: /^https?$/ }) }),
});

/** Forgets a login, and takes it back at the authorization server that gave it, where that can. */
export async function logOut(place: LoginPlace, logins: McpLogins): Promise<"nothing" | "forgotten" | "revoked"> {
  const login = await logins.find(place);
  if (login === undefined) return "nothing";
  await logins.keep(place, undefined);
  const { data } = revocable.safeParse(login.discovery);
  const token = login.tokens?.["refresh_token"] ?? login.tokens?.access_token;
  if (data === undefined || typeof token !== "string") return "forgotten";
  const body = new URLSearchParams({ token, client_id: login.client?.client_id ?? "" });
  const endpoint = data.authorizationServerMetadata.revocation_endpoint;
  const answer = await fetch(endpoint, { method: "POST", body, redirect: "error" }).catch(() => undefined);
  return answer?.ok === true ? "revoked" : "forgotten";
}

/** The first address with this login's state. */
async function pastedAnswer(lines: AsyncIterable<string>, state: string): Promise<URL> {
  for await (const line of lines) {
    const address = URL.parse(line.trim());
    if (address?.searchParams.get("state") === state) return address;
  }
  return new Promise(() => undefined);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
