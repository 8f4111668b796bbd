import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { directoryName } from "@gennai/sessions/session/user-workspaces";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { codeOf, refusalOf, yesTo } from "../rpc/session-client.ts";

const admin = { user: "grace", roles: ["gennai-admin"] };
const touch = [{ steps: [bash("touch made.txt"), { text: ["Done."] }] }];
const look = [{ steps: [call("Read", { file_path: "a.txt" }), { text: ["Done."] }] }];
const slow = [{ steps: [{ delay_ms: 60_000 }, { text: ["Done."] }] }];

async function start(user: TestUser, settings: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return (await user.client.startSession({ interactive: true, settings })).sessionId;
}

/** What of a record is ours. */
const recordSchema = z.object({
  metadata: z.looseObject({
    kind: z.string(),
    calls: z.array(z.unknown()).optional(),
    details: z.looseObject({ actor: z.unknown().optional() }),
  }),
});

async function recordsOf(user: TestUser, sessionId: string) {
  const { records } = await user.governance.listLedgerRecords({ sessionId });
  return records.map(({ json }) => recordSchema.parse(JSON.parse(json)).metadata);
}

describe("sessions", () => {
  test("everybody lists their own, and admins all of their tenant", async () => {
    await using world = await startManyUsersServer();
    const [ada, eve, grace, other] = await Promise.all([
      world.user({ user: "ada" }),
      world.user({ user: "eve" }),
      world.user(admin),
      world.user({ ...admin, tenant: "other" }),
    ]);
    const [adas, eves, others] = [await start(ada), await start(eve), await start(other)];
    const list = async (user: TestUser) => (await user.client.listSessions({})).sessions.map((each) => each.sessionId);
    expect(await list(ada)).toEqual([adas]);
    expect(await list(eve)).toEqual([eves]);
    expect(new Set(await list(grace))).toEqual(new Set([adas, eves]));
    expect(await list(other)).toEqual([others]);
    const { sessions } = await grace.client.listSessions({});
    expect(new Map(sessions.map(({ sessionId, user }) => [sessionId, user]))).toEqual(
      new Map([
        [adas, "ada"],
        [eves, "eve"],
      ]),
    );
    const dir = (await ada.client.resumeSession({ sessionId: adas })).session?.workingDir ?? "";
    expect((await eve.client.listSessions({ workingDir: dir })).sessions).toEqual([]);
    expect(await codeOf(grace.client.forkSession({ sessionId: adas }))).toBe("permission_denied");
    expect(await list(ada)).toEqual([adas]);
  });

  test("stopping everything stops one's own; for admins, their tenant's", async () => {
    await using world = await startManyUsersServer({ script: slow });
    const [ada, eve, grace, other] = await Promise.all([
      world.user({ user: "ada" }),
      world.user({ user: "eve" }),
      world.user(admin),
      world.user({ user: "ada", tenant: "other" }),
    ]);
    const turnOf = async (user: TestUser): Promise<string> => {
      const turn = { userInput: "go", clientTurnId: "t" };
      return (await user.client.startTurn({ sessionId: await start(user), ...turn })).turnId;
    };
    const [adas, eves, others] = [await turnOf(ada), await turnOf(eve), await turnOf(other)];
    expect((await ada.client.stop({ scope: StopScope.SERVER })).turnIds).toEqual([adas]);
    expect((await grace.client.stop({ scope: StopScope.SERVER })).turnIds).toEqual([eves]);
    expect((await other.client.stop({ scope: StopScope.SERVER })).turnIds).toEqual([others]);
  });

  test("a request of another user's session is unknown, not somebody else's", async () => {
    await using world = await startManyUsersServer({ script: touch });
    const [ada, eve] = [await world.user({ user: "ada" }), await world.user({ user: "eve" })];
    const sessionId = await start(ada);
    const { question, end } = await asked(ada, sessionId);
    const own = await start(eve);
    const foreign = await refusalOf(eve.client.submitClientEvent({ sessionId: own, event: yesTo(question) }));
    const unknown = await refusalOf(
      eve.client.submitClientEvent({ sessionId: own, event: yesTo({ ...question, requestId: crypto.randomUUID() }) }),
    );
    expect(foreign).toEqual(unknown);
    expect(foreign.code).toBe("not_found");
    await ada.client.stop({ scope: StopScope.SERVER });
    await end;
  });
});

describe("an admin who looks on", () => {
  test("is asked for nothing of their own editor", async () => {
    await using world = await startManyUsersServer({ script: look });
    const [ada, grace] = [await world.user({ user: "ada" }), await world.user(admin)];
    const sessionId = await start(ada);
    const directory = (await ada.client.resumeSession({ sessionId })).session?.workingDir ?? "";
    await writeFile(join(directory, "a.txt"), "on the disk\n");
    const client = { clientId: "grace-1", capabilities: { confirmation: true, fileRead: true } };
    const seen = grace.client.subscribe({ sessionId, client })[Symbol.asyncIterator]();
    await seen.next();
    const { turnId } = await ada.client.startTurn({ sessionId, userInput: "look", clientTurnId: "t" });
    const outputs: string[] = [];
    const cases: (string | undefined)[] = [];
    for await (const { event } of ada.client.subscribe({ sessionId, untilTurnId: turnId, client: { clientId: "a" } })) {
      cases.push(event.case);
      if (event.case === "toolResult") outputs.push(event.value.output);
    }
    expect(cases).not.toContain("requestFileRead");
    expect(outputs.join("")).toContain("on the disk");
    await seen.return?.();
  });

  test("can stop the turn", async () => {
    await using world = await startManyUsersServer({ script: slow });
    const [ada, grace] = [await world.user({ user: "ada" }), await world.user(admin)];
    const sessionId = await start(ada);
    const { turnId } = await ada.client.startTurn({ sessionId, userInput: "go", clientTurnId: "t" });
    expect(await grace.client.cancelTurn({ sessionId, turnId, reason: "test" })).toMatchObject({ wasRunning: true });
  });
});

describe("who acted", () => {
  test("the ledger names who started the turn, and who answered", async () => {
    await using world = await startManyUsersServer({ script: touch });
    const [ada, grace] = [await world.user({ user: "ada" }), await world.user(admin)];
    const sessionId = await start(ada);
    const { question, end } = await asked(ada, sessionId);
    const answer = { sessionId, clientId: "desk", event: yesTo(question) };
    expect(await codeOf(grace.client.submitClientEvent(answer))).toBe("permission_denied");
    await ada.client.submitClientEvent(answer);
    await end;
    const records = await recordsOf(ada, sessionId);
    const calls = records.filter(({ calls: made = [] }) => made.length > 0);
    expect(calls.length).toBeGreaterThanOrEqual(2);
    for (const { details } of calls) expect(details.actor).toEqual({ tenant: "acme", user: "ada" });
    expect(JSON.stringify(calls)).toContain('"by":"ada at desk"');
    expect((await ada.governance.verifyLedger({ sessionId })).status).toBe("ok");
  });

  test("an emergency control is switched by whom the token names, whatever they write", async () => {
    await using world = await startManyUsersServer();
    const [ada, grace] = [await world.user({ user: "ada" }), await world.user(admin)];
    const sessionId = await start(ada);
    const change = { control: EmergencyControl.READ_ONLY, enabled: true, by: "ada", reason: "a test" };
    expect(await codeOf(ada.governance.setEmergencyControl(change))).toBe("permission_denied");
    await grace.governance.setEmergencyControl(change);
    const record = (await recordsOf(ada, sessionId)).find(({ kind }) => kind === "emergency");
    expect(JSON.stringify(record)).toContain('"by":"grace"');
  });
});

describe("tenants", () => {
  test("have controls of their own", async () => {
    await using world = await startManyUsersServer();
    const [grace, other] = [await world.user(admin), await world.user({ ...admin, tenant: "other" })];
    const change = { control: EmergencyControl.STOP_ALL, enabled: true, by: "x", reason: "a test" };
    await grace.governance.setEmergencyControl(change);
    const stopAll = async (user: TestUser) =>
      (await user.governance.getGovernanceStatus({ sessionId: await start(user) })).emergency?.stopAll;
    expect([await stopAll(grace), await stopAll(other)]).toEqual([true, false]);
  });

  test("have directories, keys, logs and blobs of their own, which nobody else can read", async () => {
    await using world = await startManyUsersServer();
    const names = ["acme", "other", "../acme", "Acme", "größe"];
    for (const tenant of names) await start(await world.user({ user: "ada", tenant }));
    const tenants = join(world.server.stateDir, "tenants");
    expect(new Set(await readdir(tenants))).toEqual(new Set(names.map(directoryName)));
    const keys = new Set<string>();
    for (const tenant of names) {
      const directory = join(tenants, directoryName(tenant));
      expect((await stat(directory)).mode & 0o077).toBe(0);
      expect(await readdir(directory)).toEqual(expect.arrayContaining(["gennai.db", "blobs", "keys", "tenant.json"]));
      keys.add(await readFile(join(directory, "keys", "ledger.ed25519"), "utf8"));
    }
    expect(keys.size).toBe(names.length);
    expect(existsSync(join(world.server.stateDir, "gennai.db"))).toBe(false);
    expect(new Set(await readdir(world.workspaceRoot))).toEqual(new Set(names.map(directoryName)));
  });

  test("are the same after a restart", async () => {
    await using world = await startManyUsersServer();
    const ada = await world.user({ user: "ada" });
    const sessionId = await start(ada);
    await world.server.restart();
    const { sessions } = await ada.client.listSessions({});
    expect(sessions.map((each) => each.sessionId)).toEqual([sessionId]);
    const eve = await world.user({ user: "eve" });
    expect(await codeOf(eve.client.resumeSession({ sessionId }))).toBe("not_found");
  });
});

describe("pages", () => {
  const post = (world: ManyUsersServer, path: string, token: string, body: unknown = {}, own = false) =>
    fetch(new URL(path, world.server.url), {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
        ...(own ? { Origin: world.server.url } : {}),
      },
      body: JSON.stringify(body),
    });

  test("open in the name of who had the link made, and close for that one alone", async () => {
    await using world = await startManyUsersServer({ server: { pageDirectory: "/nonexistent" } });
    const [ada, eve] = [await world.user({ user: "ada" }), await world.user({ user: "eve" })];
    const sessionId = await start(ada);
    const open = async (user: TestUser): Promise<string> => {
      const { code } = (await (await post(world, "/page/code", user.token)).json()) as { code: string };
      const answer = await post(world, "/page/token", "", { code }, true);
      return ((await answer.json()) as { token: string }).token;
    };
    const [adas, eves] = [await open(ada), await open(eve)];
    const resume = (token: string) =>
      post(world, "/gennai.agent.v1.AgentService/ResumeSession", token, { sessionId }, true).then(
        ({ status }) => status,
      );
    expect([await resume(adas), await resume(eves)]).toEqual([200, 404]);
    // A page's token makes no further links, and eve closes her own pages only.
    expect((await post(world, "/page/code", eves, {}, true)).status).toBe(401);
    expect((await post(world, "/page/close", eve.token)).status).toBe(200);
    expect([await resume(adas), await resume(eves)]).toEqual([200, 401]);
  });

  test("end with the token they were opened with", async () => {
    await using world = await startManyUsersServer({ server: { pageDirectory: "/nonexistent" } });
    const ada = await world.user({ user: "ada", expires: 5 });
    const { code } = (await (await post(world, "/page/code", ada.token)).json()) as { code: string };
    const { token } = (await (await post(world, "/page/token", "", { code }, true)).json()) as { token: string };
    const info = () => post(world, "/gennai.agent.v1.AgentService/GetServerInfo", token, {}, true);
    expect((await info()).status).toBe(200);
    await expect.poll(async () => (await info()).status).toBe(401);
  });
});

/** Starts a turn and waits for its question. `end` resolves when the turn has ended. */
async function asked(user: TestUser, sessionId: string) {
  const question = Promise.withResolvers<{ requestId: string; actionSha256: string }>();
  const end = (async () => {
    const { turnId } = await user.client.startTurn({
      sessionId,
      userInput: "touch it",
      clientTurnId: crypto.randomUUID(),
    });
    const client = { clientId: "ada-1", capabilities: { confirmation: true } };
    for await (const { event } of user.client.subscribe({ sessionId, untilTurnId: turnId, client })) {
      if (event.case === "confirmationRequest") question.resolve(event.value);
    }
  })();
  end.catch(question.reject);
  return { question: await question.promise, end };
}
