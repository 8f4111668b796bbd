import { createServer } from "node:http";
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";

export interface IssuedToken {
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
  readonly roles?: unknown;
  readonly issuer?: string;
  readonly audience?: string | readonly string[];
  /** Seconds from now; undefined leaves the claim out. */
  readonly expires?: number | undefined;
  readonly notBefore?: number;
  readonly header?: Partial<JWTHeaderParameters>;
  readonly claims?: JWTPayload;
}

/** An issuer of tokens on the loopback: its keys over HTTP, and tokens of whatever it is told. */
export interface TokenIssuer extends AsyncDisposable {
  readonly issuer: string;
  readonly jwksUrl: URL;
  /** How often its keys were fetched. */
  readonly fetches: number;
  /** The public keys it tells. */
  readonly keys: readonly JWK[];
  /** Answers with this status from now on; 200 is well. */
  fail(status: number): void;
  /** A new key; the old one is told no more. */
  rotate(): Promise<void>;
  sign(token: IssuedToken): Promise<string>;
}

export const testAudience = "gennai";

export async function startTokenIssuer(): Promise<TokenIssuer> {
  let status = 200;
  let fetches = 0;
  let number = 0;
  const newKey = async () => {
    number += 1;
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const kid = `key-${number}`;
    return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
  };
  let key = await newKey();
  const server = createServer((request, response) => {
    const isJwks = request.url === "/jwks";
    if (isJwks) fetches += 1;
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isJwks ? { keys: [key.jwk] } : { issuer, jwks_uri: `${issuer}/jwks` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    issuer,
    jwksUrl: new URL("/jwks", issuer),
    get fetches() {
      return fetches;
    },
    get keys() {
      return [key.jwk];
    },
    fail: (code) => {
      status = code;
    },
    rotate: async () => {
      key = await newKey();
    },
    async sign(token) {
      const now = Math.floor(Date.now() / 1000);
      const expires = "expires" in token ? token.expires : 600;
      const { user, tenant, roles, issuer: by = issuer, audience = testAudience, notBefore } = token;
      return new SignJWT({
        ...(user === undefined ? {} : { sub: user }),
        ...(tenant === undefined ? {} : { org: tenant }),
        ...(roles === undefined ? {} : { roles }),
        ...(expires === undefined ? {} : { exp: now + expires }),
        ...(notBefore === undefined ? {} : { nbf: now + notBefore }),
        iss: by,
        aud: typeof audience === "string" ? audience : [...audience],
        iat: now,
        ...token.claims,
      })
        .setProtectedHeader({ alg: "ES256", kid: key.kid, typ: "JWT", ...token.header })
        .sign(key.privateKey);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
