import { randomUUID } from "node:crypto";
import { defaultLimits } from "@gennai/server/admission/limits";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
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
const namesNone = ([, { access }]: readonly [string, RpcRow]) => ["own", "admin", "approver"].includes(access);
const ofSessions = all.filter((each) => !namesNone(each));
const ofNone = all.filter(namesNone);

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

  test("for everybody else it is as if there were no such session", async () => {
    const session = await newSession(ada);
    for (const who of [
      { user: "eve" },
      { user: "ada", tenant: "other" },
      { user: "root", tenant: "other", roles: ["gennai-admin"] },
      { user: "Ada" },
    ]) {
      const { token } = await world.user(who);
      const [foreign, unknown] = [await call(name, token, session), await call(name, token, randomUUID())];
      expect(foreign, JSON.stringify(who)).toEqual(unknown);
      expect(foreign).toMatchObject({ code: "not_found", message: expect.stringContaining("no such session") });
    }
  });
});

test.each(ofNone)("%s, which names no session, is for those it is for", async (name, row) => {
  const { access } = row;
  const role = access === "admin" || access === "approver" ? access : undefined;
  const { token } = await world.user({ user: "grace", roles: role === undefined ? [] : [`gennai-${role}`] });
  expect(await call(name, token, "")).toMatchObject({ code: endOf(row) });
  if (role === undefined) return;
  const { token: others } = await world.user({
    user: "eve",
    roles: [`gennai-${role === "admin" ? "approver" : "admin"}`],
  });
  const refused = { code: "permission_denied", reason: `${role}_only` };
  for (const one of [ada.token, others]) expect(await call(name, one, "")).toMatchObject(refused);
});

test.each(ofSessions.filter(([, { access }]) => access === "overseen-or-own"))(
  "%s without a session is about what is one's own",
  async (name, { answers = "ok" }) => {
    expect(await call(name, ada.token, "")).toMatchObject({ code: answers });
  },
);

// Every token that is none is refused by one judge, which packages/server/test/identity/token-verifier.test.ts shows.
test.each(all)("%s lets nobody in without a token, nor with an expired one", async (name) => {
  const expired = await world.issuer.sign({ user: "ada", tenant: "acme", expires: -60 });
  for (const token of [undefined, expired]) {
    expect(await call(name, token, "")).toMatchObject({ code: "unauthenticated" });
  }
});

async function admin(): Promise<string> {
  return (await world.user({ user: "grace", roles: ["gennai-admin"] })).token;
}
