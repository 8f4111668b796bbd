import { createHmac } from "node:crypto";
import { rename, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { type IssuedToken, startTokenIssuer, type TokenIssuer, testAudience } from "@gennai/testkit/token-issuer";
import { base64url, generateKeyPair, SignJWT } from "jose";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type KeyTiming, keysAt, keysInFile, keysOfIssuer, keyUrl } from "#identity/issuer-keys";
import { TokenVerifier, type TokenVerifierOptions } from "#identity/token-verifier";

let issuer: TokenIssuer;
beforeEach(async () => {
  const started = await startTokenIssuer();
  issuer = started;
  return () => started[Symbol.asyncDispose]();
});

const claims = { user: "sub", tenant: "org", roles: "roles", adminRole: "admin", approverRole: "approver" };
const ada: IssuedToken = { user: "ada", tenant: "acme" };

function verifier(options: Partial<TokenVerifierOptions> = {}, timing: KeyTiming = {}): TokenVerifier {
  const keys = keysAt(issuer.jwksUrl, timing);
  return new TokenVerifier({ issuer: issuer.issuer, audiences: [testAudience], keys, claims, ...options });
}

describe("who somebody is", () => {
  test.each<[string, Partial<typeof claims>, IssuedToken, unknown]>([
    ["user and tenant", {}, ada, { tenant: "acme", user: "ada", isAdmin: false }],
    ["a role in a list", {}, { ...ada, roles: ["x", "admin"] }, { isAdmin: true }],
    ["a role among words", {}, { ...ada, roles: "x admin" }, { isAdmin: true }],
    ["a role that only begins so", {}, { ...ada, roles: ["administrator"] }, { isAdmin: false }],
    ["roles that are something else", {}, { ...ada, roles: { admin: true } }, { isAdmin: false }],
    [
      "roles below another claim",
      { roles: "realm_access.roles" },
      { ...ada, claims: { realm_access: { roles: ["admin"] } } },
      { isAdmin: true },
    ],
    [
      "a claim whose name has dots",
      { user: "https://x.example/user" },
      { ...ada, claims: { "https://x.example/user": "bob" } },
      { user: "bob" },
    ],
    ["one of several audiences", {}, { ...ada, audience: ["other", testAudience] }, { user: "ada" }],
  ])("%s", async (_what, names, token, wanted) => {
    const judgement = await verifier({ claims: { ...claims, ...names } }).judge(await issuer.sign(token));
    expect(judgement).toMatchObject({ type: "accepted", identity: wanted });
  });

  test("without a claim for tenants, all are of one", async () => {
    const judge = verifier({ claims: { ...claims, tenant: undefined } });
    const judgement = await judge.judge(await issuer.sign({ user: "ada" }));
    expect(judgement).toMatchObject({ type: "accepted", identity: { tenant: "default", user: "ada" } });
  });

  test("nobody is an admin where no role makes one", async () => {
    const judge = verifier({ claims: { ...claims, adminRole: undefined, approverRole: undefined } });
    const judgement = await judge.judge(await issuer.sign({ ...ada, roles: ["admin", "undefined", ""] }));
    expect(judgement).toMatchObject({ identity: { isAdmin: false } });
  });
});

describe("refused", () => {
  const encoded = (value: unknown): string => base64url.encode(JSON.stringify(value));
  const now = Math.floor(Date.now() / 1000);
  const body = () => ({ sub: "ada", org: "acme", iss: issuer.issuer, aud: testAudience, exp: now + 600 });

  test.each<[string, () => Promise<string> | string]>([
    ["an expired one", () => issuer.sign({ ...ada, expires: -31 })],
    ["one from the future", () => issuer.sign({ ...ada, notBefore: 31 })],
    ["one without an end", () => issuer.sign({ ...ada, expires: undefined })],
    ["another audience", () => issuer.sign({ ...ada, audience: "gennai2" })],
    ["an audience that contains ours", () => issuer.sign({ ...ada, audience: "xgennai" })],
    ["another issuer", () => issuer.sign({ ...ada, issuer: `${issuer.issuer}/` })],
    ["no user", () => issuer.sign({ tenant: "acme" })],
    ["an empty user", () => issuer.sign({ ...ada, user: "" })],
    ["a user that is a list", () => issuer.sign({ ...ada, claims: { sub: ["ada"] as unknown as string } })],
    ["no tenant", () => issuer.sign({ user: "ada" })],
    ["a tenant from the prototype", () => issuer.sign({ user: "ada", claims: { __proto__: { org: "acme" } } })],
    ["no signature", () => `${encoded({ alg: "none" })}.${encoded(body())}.`],
    ["alg none in other letters", () => `${encoded({ alg: "nOnE" })}.${encoded(body())}.`],
    ["an HMAC with the public key", () => hmac(JSON.stringify(issuer.keys[0]))],
    ["an HMAC with nothing", () => hmac("")],
    ["an unknown key", () => foreign({ kid: "another" })],
    ["a key of one's own under the issuer's name", () => foreign({ kid: "key-1" })],
    ["a key that the token brings along", () => foreign({ kid: "key-1" }, true)],
    ["keys at an address that the token names", () => foreign({ kid: "key-1", jku: "http://127.0.0.1:1/jwks" })],
    ["a name of a key that is a path", () => foreign({ kid: "../../../../dev/null" })],
    ["a name of a key that is a query", () => foreign({ kid: "' UNION SELECT 'k" })],
    ["a critical extension that is unknown", () => issuer.sign({ ...ada, header: { crit: ["x"], x: 1 } })],
    ["garbage", () => "garbage"],
    ["nothing", () => ""],
    ["three empty parts", () => ".."],
    ["a very long one", () => `${"a".repeat(13_000)}.b.c`],
    ["an encrypted one", () => `${encoded({ alg: "dir", enc: "A256GCM" })}....`],
  ])("%s", async (_what, token) => {
    const text = await Promise.resolve(token()).catch(() => "could.not.be");
    expect(await verifier().judge(text)).toMatchObject({ type: "refused" });
  });

  test("one whose payload was changed, and one whose signature was", async () => {
    const [head, payload, signature = ""] = (await issuer.sign(ada)).split(".");
    const other = (await issuer.sign({ ...ada, user: "eve" })).split(".")[1];
    const judge = verifier();
    expect(await judge.judge(`${head}.${payload}.${signature}`)).toMatchObject({ type: "accepted" });
    expect(await judge.judge(`${head}.${other}.${signature}`)).toMatchObject({ type: "refused" });
    const flipped = `${signature.slice(0, 20)}${signature[20] === "A" ? "B" : "A"}${signature.slice(21)}`;
    expect(await judge.judge(`${head}.${payload}.${flipped}`)).toMatchObject({ type: "refused" });
  });

  test("says nothing of the token", async () => {
    const token = await issuer.sign({ ...ada, user: "secret-name", expires: -100 });
    expect(JSON.stringify(await verifier().judge(token))).not.toContain("secret-name");
  });

  function hmac(secret: string): string {
    const signed = `${encoded({ alg: "HS256", kid: "key-1" })}.${encoded(body())}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  }

  async function foreign(header: { kid: string; jku?: string }, bring = false): Promise<string> {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = bring ? { jwk: await (await import("jose")).exportJWK(publicKey) } : {};
    return new SignJWT(body()).setProtectedHeader({ alg: "ES256", ...header, ...jwk }).sign(privateKey);
  }
});

test("clocks may be a little apart", async () => {
  const judge = verifier();
  expect(await judge.judge(await issuer.sign({ ...ada, expires: -20 }))).toMatchObject({ type: "accepted" });
  expect(await judge.judge(await issuer.sign({ ...ada, notBefore: 20 }))).toMatchObject({ type: "accepted" });
});

test("an algorithm without public keys cannot be allowed", () => {
  for (const name of ["HS256", "none", "dir", ""]) expect(() => verifier({ algorithms: [name] })).toThrow(TypeError);
});

describe("the issuer's keys", () => {
  test("are fetched once for many tokens", async () => {
    const judge = verifier();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.sign(ada)));
    for (const each of await Promise.all(tokens.map((token) => judge.judge(token)))) expect(each.type).toBe("accepted");
    expect(issuer.fetches).toBe(1);
  });

  test("are fetched again for a key that is new, and not for each that is unknown", async () => {
    const judge = verifier({}, { cooldown: 0 });
    const old = await issuer.sign(ada);
    expect(await judge.judge(old)).toMatchObject({ type: "accepted" });
    await issuer.rotate();
    expect(await judge.judge(await issuer.sign(ada))).toMatchObject({ type: "accepted" });
    expect(issuer.fetches).toBe(2);
    expect(await judge.judge(old)).toMatchObject({ type: "refused" });

    const patient = verifier({}, { cooldown: 60_000 });
    for (let count = 0; count < 20; count += 1) await patient.judge(old);
    expect(issuer.fetches).toBeLessThanOrEqual(4);
  });

  test("that cannot be had let nobody in, and nobody's token is called wrong", async () => {
    issuer.fail(500);
    const judge = verifier({}, { failureCooldown: 0 });
    const token = await issuer.sign(ada);
    expect(await judge.judge(token)).toMatchObject({ type: "undecided" });
    issuer.fail(200);
    expect(await judge.judge(token)).toMatchObject({ type: "accepted" });
  });

  test("that are old and cannot be fetched count no more", async () => {
    const judge = verifier({}, { maxAge: 1, failureCooldown: 0 });
    const token = await issuer.sign(ada);
    expect(await judge.judge(token)).toMatchObject({ type: "accepted" });
    issuer.fail(503);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await judge.judge(token)).toMatchObject({ type: "undecided" });
  });

  test("are not asked for again and again while the issuer is down", async () => {
    issuer.fail(500);
    const judge = verifier();
    const token = await issuer.sign(ada);
    for (let count = 0; count < 20; count += 1) await judge.judge(token);
    expect(issuer.fetches).toBe(1);
  });

  test("are where the issuer says, if it says who it is as we know it", async () => {
    const token = await issuer.sign(ada);
    expect(await verifier({ keys: keysOfIssuer(issuer.issuer) }).judge(token)).toMatchObject({ type: "accepted" });
    const liar = createServer((_, response) =>
      response.end(JSON.stringify({ issuer: issuer.issuer, jwks_uri: issuer.jwksUrl })),
    );
    await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void liar.close());
    const address = liar.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    expect(await verifier({ keys: keysOfIssuer(url) }).judge(token)).toMatchObject({ type: "undecided" });
  });

  test("in a file are read again when it changes, and count no more when it is gone", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.root, "jwks.json");
    await writeFile(file, JSON.stringify({ keys: issuer.keys }));
    const judge = verifier({ keys: keysInFile(file) });
    const old = await issuer.sign(ada);
    expect(await judge.judge(old)).toMatchObject({ type: "accepted" });
    await issuer.rotate();
    await writeFile(`${file}.new`, JSON.stringify({ keys: issuer.keys }));
    await rename(`${file}.new`, file);
    expect(await judge.judge(old)).toMatchObject({ type: "refused" });
    expect(await judge.judge(await issuer.sign(ada))).toMatchObject({ type: "accepted" });
    await unlink(file);
    expect(await judge.judge(await issuer.sign(ada))).toMatchObject({ type: "undecided" });
  });

  test.each<[string, unknown]>([
    ["no set", {}],
    ["an empty one", { keys: [] }],
    ["a shared secret", { keys: [{ kty: "oct", k: "AAAA" }] }],
    ["a private key", { keys: [{ kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }] }],
  ])("cannot be a file with %s", async (_what, content) => {
    await using directory = await temporaryDirectory({ "jwks.json": JSON.stringify(content) });
    expect(() => keysInFile(directory.path("jwks.json"))).toThrow(TypeError);
  });

  test.each([
    ["https://login.example/keys", true],
    ["http://127.0.0.1:1/keys", true],
    ["http://login.example/keys", false],
    ["http://127.0.0.1.evil.example/keys", false],
    ["file:///etc/passwd", false],
    ["keys", false],
  ])("come encrypted, or from this machine: %s", (url, good) => {
    if (good) expect(keyUrl(url).href).toBe(url);
    else expect(() => keyUrl(url)).toThrow(TypeError);
  });
});
