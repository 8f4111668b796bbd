import { createHash, randomUUID } from "node:crypto";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { firstWords, sdkServer } from "./sdk-server.ts";
import { listeningHandler } from "./web-handler.ts";

/** The client of a metadata document, which is at this address. */
export const documented = "https://client.example/gennai.json";

/** `documents`: not hostile, and takes metadata documents in place of registrations. */
export type Hostility =
  | "none"
  | "documents"
  | "other-issuer"
  | "mix-up"
  | "other-resource"
  | "token-elsewhere"
  | "redirect-elsewhere";

interface Grant {
  readonly client: string;
  readonly scope: string;
  readonly resource: string;
  readonly challenge: string;
  readonly redirect: string;
}

const json = (body: object, init?: ResponseInit) => Response.json(body, init);

/** An MCP server that wants a login, and an authorization server of its own that keeps to OAuth 2.1, or does not. */
export async function authorizedServer(hostility: Hostility = "none") {
  const codes = new Map<string, Grant>();
  const access = new Map<string, Grant>();
  const refresh = new Map<string, Grant>();
  const used = new Set<string>();
  const clients = new Map<string, readonly string[]>();
  const seen: string[] = [];
  const elsewhere: string[] = [];
  const parts = new AsyncDisposableStack();

  const thief = parts.use(
    await listeningHandler(async (request) => {
      elsewhere.push(await request.text());
      return json({ access_token: "stolen", token_type: "Bearer" });
    }),
  );
  const given = (grant: Grant) => {
    const [accessToken, refreshToken] = [randomUUID(), randomUUID()];
    access.set(accessToken, grant);
    refresh.set(refreshToken, grant);
    const { scope } = grant;
    return json({
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: "Bearer",
      expires_in: 60,
      scope,
    });
  };
  const revoke = () => {
    access.clear();
    refresh.clear();
  };
  const token = (form: URLSearchParams): Response => {
    const value = (name: string) => form.get(name) ?? "";
    if (value("grant_type") === "refresh_token") {
      const grant = refresh.get(value("refresh_token"));
      refresh.delete(value("refresh_token"));
      // As OAuth 2.1 has it (4.3.1): who uses it again may have stolen it.
      if (used.has(value("refresh_token"))) revoke();
      used.add(value("refresh_token"));
      return grant === undefined ? json({ error: "invalid_grant" }, { status: 400 }) : given(grant);
    }
    const grant = codes.get(value("code"));
    codes.delete(value("code"));
    const challenge = createHash("sha256").update(value("code_verifier")).digest("base64url");
    const fits =
      grant?.challenge === challenge &&
      grant.redirect === value("redirect_uri") &&
      grant.client === value("client_id") &&
      grant.resource === value("resource");
    return grant !== undefined && fits ? given(grant) : json({ error: "invalid_grant" }, { status: 400 });
  };
  const issuer: { readonly origin: string } = parts.use(
    await listeningHandler(async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      seen.push(pathname);
      switch (pathname) {
        case "/.well-known/oauth-authorization-server":
          return json({
            issuer: hostility === "other-issuer" ? "https://issuer.example" : issuer.origin,
            authorization_endpoint: `${issuer.origin}/authorize`,
            token_endpoint: `${issuer.origin}/token`,
            registration_endpoint: `${issuer.origin}/register`,
            revocation_endpoint: `${issuer.origin}/revoke`,
            response_types_supported: ["code"],
            code_challenge_methods_supported: ["S256"],
            token_endpoint_auth_methods_supported: ["none"],
            authorization_response_iss_parameter_supported: true,
            ...(hostility === "documents" ? { client_id_metadata_document_supported: true } : {}),
          });
        case "/register": {
          const asked: { redirect_uris: readonly string[] } = await request.json();
          const id = randomUUID();
          clients.set(id, asked.redirect_uris);
          return json({ ...asked, client_id: id }, { status: 201 });
        }
        case "/authorize": {
          const value = (name: string) => searchParams.get(name) ?? "";
          const redirect = value("redirect_uri");
          const isKnown = hostility === "documents" && value("client_id") === documented;
          if (!isKnown && clients.get(value("client_id"))?.includes(redirect) !== true)
            return new Response("", { status: 400 });
          const code = randomUUID();
          const client = value("client_id");
          const challenge = value("code_challenge");
          codes.set(code, { client, scope: value("scope"), resource: value("resource"), challenge, redirect });
          const back = new URL(hostility === "redirect-elsewhere" ? `${thief.origin}/callback` : redirect);
          back.searchParams.set("code", code);
          back.searchParams.set("state", value("state"));
          back.searchParams.set("iss", hostility === "mix-up" ? "https://issuer.example" : issuer.origin);
          return Response.redirect(back);
        }
        case "/token":
          if (hostility === "token-elsewhere") return Response.redirect(`${thief.origin}/token`, 307);
          return token(new URLSearchParams(await request.text()));
        case "/revoke": {
          const revoked = new URLSearchParams(await request.text()).get("token") ?? "";
          return refresh.delete(revoked) ? new Response("") : new Response("", { status: 400 });
        }
        default:
          return new Response("", { status: 404 });
      }
    }),
  );
  const words = { description: firstWords };
  const handler = createMcpHandler(() => sdkServer(words));
  const state = { scope: "" };
  const resource: { readonly origin: string } = parts.use(
    await listeningHandler(async (request) => {
      const { pathname, origin } = new URL(request.url);
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      if (pathname === "/.well-known/oauth-protected-resource/mcp") {
        const named = hostility === "other-resource" ? "https://resource.example/mcp" : `${origin}/mcp`;
        return json({ resource: named, authorization_servers: [issuer.origin], scopes_supported: ["read"] });
      }
      if (pathname !== "/mcp") return new Response("", { status: 404 });
      const grant = access.get(request.headers.get("authorization")?.replace("Bearer ", "") ?? "");
      const challenge = `Bearer resource_metadata="${metadata}"`;
      if (grant === undefined) return new Response("", { status: 401, headers: { "www-authenticate": challenge } });
      if (state.scope !== "" && !grant.scope.split(" ").includes(state.scope)) {
        const more = `${challenge}, error="insufficient_scope", scope="${state.scope}"`;
        return new Response("", { status: 403, headers: { "www-authenticate": more } });
      }
      return handler.fetch(request);
    }),
  );
  parts.defer(() => handler.close());
  return {
    url: `${resource.origin}/mcp`,
    /** Paths asked for at the authorization server. */
    seen,
    /** What arrived where nothing should. */
    elsewhere,
    /** Access tokens end. */
    expire: () => access.clear(),
    revoke,
    refreshTokens: () => refresh.size,
    /** From now on a login has to be for this as well. */
    want: (scope: string) => {
      state.scope = scope;
    },
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}
