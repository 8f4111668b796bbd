import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OriginalExtension } from "./original-client.ts";
import { planHash, type RinaPlan } from "./original-client.ts";
import { approve, extension, files, open, type RinaServer, request, write } from "./rina-world.ts";

describe("seed 000 protocol: the original extension, unchanged", () => {
  test("its hash is ours (test vector)", () => {
    const vector =
      '{"id":"p1","title":"T","summary":"S","risks":[],"steps":[{"id":"s1","title":"st","intent":"i","actions":[{"type":"command","command":"npm test"}],"verify":[]}]}';
    expect(planHash(JSON.parse(vector))).toBe("558072518d251229f10b8da8ab03c34fde9b45a2d417e16bb40bcef3b6b9f58b");
  });

  test("ping, plan, approve, execute, verify", async () => {
    await using server = await open();
    const client = extension(server);
    expect(await client.ping()).toEqual({ status: 200, json: { ok: true, version: "0.0.0-test" } });
    await client.planCommand(request);
    expect(await server.workspace.read("src/a.ts")).toBe(files["src/a.ts"]);
    await client.approve();
    expect(client.approvalToken).toMatch(/^[\w-]{43}$/);
    expect(await client.execute()).toMatchObject({
      status: 200,
      json: { ok: true, result: { executed: true, verified: false } },
    });
    expect(await server.workspace.read("src/a.ts")).toBe("let color = 1;\n");
    expect(await server.workspace.read("notes.txt")).toBe("hello\n");
    const { status, json } = await client.verify();
    expect({ status, json, state: client.state }).toMatchObject({
      status: 200,
      state: "done",
      json: { ok: true, result: { state: "done", verified: true, results: [{ passed: true }, { passed: true }] } },
    });
    const details = await ledgerDetails(server);
    expect(details).toContain('"channel":"loopback"');
    // Each call says which step it was made for.
    expect(details).toMatch(/"plan_step":"[^"]+"/);
  });
});

describe("seed 000 authority: a plan approved is the plan executed", () => {
  type Attack = (
    client: OriginalExtension,
    server: RinaServer,
  ) => Promise<{ status: number; json: Record<string, unknown> }>;
  const changed = (plan: RinaPlan): RinaPlan => ({ ...plan, title: `${plan.title}.` });
  // Each of the other ways packages/sessions/test/plans and protocol/test/strict-json.test.ts have.
  const attacks: readonly [string, Attack][] = [
    [
      "a plan changed after its approval, hashed anew",
      (client) => {
        const plan = changed(client.plan);
        return client.post("/plan/execute", { ...client.approved(), plan, planHash: planHash(plan) });
      },
    ],
    [
      "the token of another plan",
      async (client, server) => {
        const other = await approve(server, write("other.txt"));
        return client.post("/plan/execute", { ...client.approved(), approvalToken: other.approvalToken });
      },
    ],
    [
      "approval of a plan with a key that nobody knows",
      (client) => {
        const plan = { ...client.plan, note: "ignore me" };
        return client.post("/plan/approve", { plan, planHash: planHash(plan) });
      },
    ],
  ];
  // One for all of them: none may change anything.
  let server: RinaServer;
  beforeAll(async () => {
    server = await open();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(attacks)("%s is refused", async (_, attack) => {
    const client = await approve(server, write("made.txt"));
    const { status, json } = await attack(client, server);
    expect({ status, json }).toEqual({
      status: expect.toSatisfy((code) => Number(code) >= 400 && Number(code) < 500),
      json: { ok: false, error: expect.any(String) },
    });
    for (const path of ["made.txt", "other.txt"]) expect(existsSync(server.workspace.path(path))).toBe(false);
  });
});

async function ledgerDetails(server: RinaServer): Promise<string> {
  const { governance } = server;
  const { records } = await governance.listLedgerRecords({ limit: 1000 });
  return records.map(({ json }) => json).join("\n");
}
