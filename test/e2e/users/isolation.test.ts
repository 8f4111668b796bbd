import { randomUUID } from "node:crypto";
import { defaultLimits } from "@gennai/server/admission/limits";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { base64url, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callRpc, methods, transportWith } from "./call-rpc.ts";
import { type RpcRow, rpcRows } from "./rpc-rows.ts";

let world: ManyUsersServer;
let ada: TestUser;

beforeAll(async () => {
  const limits = { ...defaultLimits, callsPerSecond: 10_000, sessionsPerUser: 10_000 };
  world = await startManyUsersServer({ server: { limits } });
  ada = await world.user({ user: "ada" });
});
afterAll(() => world[Symbol.asyncDispose]());

async function newSession(user: TestUser): Promise<string> {
  return (await user.client.startSession({ interactive: false })).sessionId;
}

function call(name: string, token: string | undefined, sessionId: string) {
  const method = methods.get(name);
  if (method === undefined) throw new TypeError(`no method ${name}`);
  const row: RpcRow | undefined = rpcRows[name];
  return callRpc(transportWith(world.server.url, token), method, row?.request?.(sessionId) ?? { sessionId });
}

test("every method of the protocol has a row, and no row is of nothing", () => {
  expect(Object.keys(rpcRows).toSorted()).toEqual([...methods.keys()].toSorted());
});

const all = Object.entries(rpcRows);
const ofSessions = all.filter(([, { access }]) => access !== "own" && access !== "admin");
const ofNone = all.filter(([, { access }]) => access === "own" || access === "admin");

/** How a call ends that got in. */
function endOf({ access, answers = "ok" }: RpcRow): string {
  return access === "overseen-or-own" ? "ok" : answers;
}

describe.each(ofSessions)("%s", (name, row) => {
  test("for whoever's session it is; for an admin of the tenant, when it is seeing or stopping", async () => {
    const session = await newSession(ada);
    expect(await call(name, ada.token, session)).toMatchObject({ code: endOf(row) });
    const another = await newSession(ada);
    const refused = { code: "permission_denied", reason: "owner_only" };
    const wanted = row.access === "session" ? refused : { code: endOf(row) };
    expect(await call(name, await admin(), another)).toMatchObject(wanted);
  });

  test.each<[string, () => Promise<TestUser>]>([
    ["another user of the tenant", () => world.user({ user: "eve" })],
    ["the user of that name in another tenant", () => world.user({ user: "ada", tenant: "other" })],
    ["an admin of another tenant", () => world.user({ user: "root", tenant: "other", roles: ["gennai-admin"] })],
    ["a user whose name differs in case", () => world.user({ user: "Ada" })],
  ])("for %s it is as if there were no such session", async (_who, who) => {
    const session = await newSession(ada);
    const { token } = await who();
    const [foreign, unknown] = [await call(name, token, session), await call(name, token, randomUUID())];
    expect(foreign).toEqual(unknown);
    expect(foreign).toMatchObject({ code: "not_found", message: expect.stringContaining("no such session") });
  });
});

test.each(ofNone)("%s, which names no session, is for those it is for", async (name, row) => {
  expect(await call(name, await admin(), "")).toMatchObject({ code: endOf(row) });
  const refused = { code: "permission_denied", reason: "admin_only" };
  expect(await call(name, ada.token, "")).toMatchObject(row.access === "admin" ? refused : { code: endOf(row) });
});

test.each(ofSessions.filter(([, { access }]) => access === "overseen-or-own"))(
  "%s without a session is about what is one's own",
  async (name, { answers = "ok" }) => {
    expect(await call(name, ada.token, "")).toMatchObject({ code: answers });
  },
);

describe.each(all)("%s", (name) => {
  test.each<[string, () => Promise<string | undefined>]>([
    ["no token", async () => undefined],
    ["an expired one", () => world.issuer.sign({ user: "ada", tenant: "acme", expires: -60 })],
    ["one that is not in force yet", () => world.issuer.sign({ user: "ada", tenant: "acme", notBefore: 120 })],
    ["one without an end", () => world.issuer.sign({ user: "ada", tenant: "acme", expires: undefined })],
    ["one for another server", () => world.issuer.sign({ user: "ada", tenant: "acme", audience: "another" })],
    ["one of another issuer", () => world.issuer.sign({ user: "ada", tenant: "acme", issuer: "https://evil.example" })],
    ["one without a user", () => world.issuer.sign({ tenant: "acme" })],
    ["one without a tenant", () => world.issuer.sign({ user: "ada" })],
    ["one that is not signed", async () => unsigned()],
    ["one signed with a public key as a secret", () => signedWithPublicKey()],
    ["one that was changed", async () => tampered(ada.token)],
  ])("with %s nobody gets in", async (_what, token) => {
    expect(await call(name, await token(), "")).toMatchObject({ code: "unauthenticated" });
  });
});

async function admin(): Promise<string> {
  return (await world.user({ user: "grace", roles: ["gennai-admin"] })).token;
}

function claims() {
  const now = Math.floor(Date.now() / 1000);
  return { sub: "ada", org: "acme", iss: world.issuer.issuer, aud: "gennai", exp: now + 600, iat: now };
}

function unsigned(): string {
  const encoded = (value: unknown): string => base64url.encode(JSON.stringify(value));
  return `${encoded({ alg: "none", typ: "JWT" })}.${encoded(claims())}.`;
}

async function signedWithPublicKey(): Promise<string> {
  const [key] = world.issuer.keys;
  const secret = new TextEncoder().encode(JSON.stringify(key));
  return new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: String(key?.kid) }).sign(secret);
}

function tampered(token: string): string {
  const [head = "", , signature = ""] = token.split(".");
  return `${head}.${base64url.encode(JSON.stringify({ ...claims(), sub: "eve" }))}.${signature}`;
}
