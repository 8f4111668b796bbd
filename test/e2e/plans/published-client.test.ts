import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { planHash } from "./original-client.ts";
import { PublishedExtension, publishedPlanHash, type StrippedPlan } from "./published-client.ts";
import { open, type RinaServer } from "./rina-world.ts";

/** Plans that look the same to this client and do something else. */
const plan = (path: string, content = "x\n", title = "T") => ({
  id: "p1",
  title,
  summary: "S",
  risks: [{ level: "low", text: "none" }],
  steps: [
    {
      id: "s1",
      title: "st",
      intent: "i",
      actions: [{ type: "file_write", path, content }],
      verify: [{ type: "command", command: "grep -rn x made.txt" }],
    },
  ],
});
const says = (match: string, payload: object) => ({
  match,
  steps: [{ text: `Here {you} are: ${JSON.stringify({ kind: "plan", payload })}` }],
});
const contract = {
  id: "p2",
  title: "T",
  summary: "S",
  steps: [
    {
      id: "s1",
      description: "d",
      tool: "Write",
      risk_level: "medium",
      requires_confirmation: true,
      actions: [{ type: "file_write", path: "made.txt", content: "x\n" }],
      verification_plan: [{ type: "command", command: "grep x made.txt" }],
    },
  ],
};

function openScripted(): Promise<RinaServer> {
  const script = [
    says("first", plan("made.txt")),
    says("same", plan("other.txt")),
    says("titled", plan("titled.txt", "x\n", "Another")),
    says("denied", plan("../out.txt")),
    { match: "contract", steps: [{ text: JSON.stringify({ kind: "plan", payload: contract }) }] },
  ];
  return open({ files: {}, script });
}

async function client(server: RinaServer, request = "first"): Promise<PublishedExtension> {
  const made = new PublishedExtension(server.rinaUrl);
  await made.planCommand(request);
  return made;
}

const made = (server: RinaServer, path = "made.txt") => existsSync(server.workspace.path(path));

/** To a place that is not a URL: its HTTP library throws for it, and it reads no other refusal. */
const refused = 303;

describe("seed 000 protocol: the extension as it was published, unchanged", () => {
  test.each([
    ["main", "ai-agent/t"],
    ["work", "work"],
  ])("from ping to verify on the branch %s: it works on %s", async (branch, worksOn) => {
    await using server = await openScripted();
    const { workspace } = server;
    await workspace.git("switch", "--quiet", branch);
    const extension = new PublishedExtension(server.rinaUrl);
    expect(await extension.walk("first")).toEqual([
      "RinaWarp daemon: reachable (v0.0.0-test)",
      "Plan generated: T",
      "Plan approved and token received.",
      "Plan executed successfully.",
      "Plan verification completed.",
    ]);
    expect([await workspace.git("branch", "--show-current"), await workspace.read("made.txt")]).toEqual([
      worksOn,
      "x\n",
    ]);
    expect(await workspace.git("ls-tree", "--name-only", "main")).toBe("README.md");
  });

  test.each<[string, (server: RinaServer) => Promise<unknown>, string, RegExp]>([
    [
      "on a detached HEAD",
      ({ workspace }) => workspace.git("switch", "--quiet", "--detach"),
      "first",
      /^Approval failed: .*Step s1, action 1 is refused: HEAD is detached/,
    ],
    [
      "on a protected branch that cannot be left",
      async ({ workspace }) => {
        await workspace.git("switch", "--quiet", "main");
        await workspace.git("branch", "ai-agent");
      },
      "first",
      /^Approval failed: .*git could not create ai-agent\/t: .*git branch --move ai-agent OTHER-NAME/,
    ],
    ["that is denied", async () => undefined, "denied", /^Approval failed: .*Step s1, action 1 is refused: .*outside/],
  ])("a plan %s is never called approved: it says what is wrong", async (_what, prepare, request, wanted) => {
    await using server = await openScripted();
    await prepare(server);
    const extension = new PublishedExtension(server.rinaUrl);
    const [approval] = (await extension.walk(request)).slice(2);
    expect(approval).toMatch(wanted);
    expect(made(server)).toBe(false);
  });

  test("a run that fails is not called a success", async () => {
    await using server = await openScripted();
    const extension = await client(server);
    await extension.approve();
    await server.workspace.write("made.txt", "theirs\n");
    expect((await extension.execute()).thrown).toMatch(/changed since|would do something else/);
    expect(await server.workspace.read("made.txt")).toBe("theirs\n");
  });

  test("plan in the words of the contract, approve, execute, verify", async () => {
    await using server = await openScripted();
    const extension = await client(server, "contract");
    expect(JSON.stringify(extension.plan)).not.toContain('"path"');
    expect(await extension.approve()).toMatchObject({ status: 200, json: { ok: true } });
    expect(extension.approvalToken).toMatch(/^[\w-]{43}$/);
    expect(made(server)).toBe(false);
    expect(await extension.execute()).toMatchObject({ status: 200, json: { ok: true, result: { executed: true } } });
    expect(await server.workspace.read("made.txt")).toBe("x\n");
    expect(await extension.verify()).toMatchObject({ status: 200, json: { ok: true, result: { verified: true } } });
    expect((await extension.execute()).status).toBe(refused);
  });

  test("a client that hashes all of the form that it holds is understood as well", async () => {
    await using server = await openScripted();
    const extension = new PublishedExtension(server.rinaUrl, planHash);
    await extension.planCommand("first");
    expect((await extension.approve()).status).toBe(200);
    expect((await extension.execute()).status).toBe(200);
    expect(made(server)).toBe(true);
  });

  test("of two windows each runs its own plan", async () => {
    await using server = await openScripted();
    const [one, two] = [await client(server, "first"), await client(server, "titled")];
    expect([(await one.approve()).status, (await two.approve()).status]).toEqual([200, 200]);
    expect((await two.execute()).status).toBe(200);
    expect([made(server), made(server, "titled.txt")]).toEqual([false, true]);
    expect((await one.execute()).status).toBe(200);
    expect(made(server)).toBe(true);
  });
});

describe("a form that names a plan gives no power over another", () => {
  type Attack = (extension: PublishedExtension, server: RinaServer) => Promise<{ readonly status: number }>;
  /** What the client holds, changed; the published hash covers none of these changes but the title's. */
  const changed = (extension: PublishedExtension, change: (plan: StrippedPlan) => object) =>
    change(structuredClone(extension.plan) as StrippedPlan);
  const send = (extension: PublishedExtension, path: string, body: object, hash = publishedPlanHash(body)) =>
    extension.post(path, { ...extension.approved(), plan: body, planHash: hash });
  const otherVerify = (held: StrippedPlan) => ({
    ...held,
    steps: held.steps.map((step) => ({ ...step, verify: [{ type: "command", command: "touch x" }] })),
  });
  const filled = (held: StrippedPlan) => ({ ...held, steps: plan("other.txt").steps });
  const attacks: readonly [string, Attack][] = [
    ["another verification", (extension) => send(extension, "/plan/execute", changed(extension, otherVerify))],
    [
      "another title",
      (extension) =>
        send(
          extension,
          "/plan/execute",
          changed(extension, (it) => ({ ...it, title: "x" })),
        ),
    ],
    [
      "the whole plan with another path, under its own hash",
      (extension) => {
        const body = changed(extension, filled);
        return send(extension, "/plan/execute", body, planHash(body));
      },
    ],
    [
      "an action more",
      (extension) =>
        send(
          extension,
          "/plan/execute",
          changed(extension, (it) => ({
            ...it,
            steps: it.steps.map((step) => ({ ...step, actions: [...step.actions, { type: "command" }] })),
          })),
        ),
    ],
    [
      "the token of a plan that looks the same, made later",
      async (extension, server) => {
        const other = await client(server, "same");
        expect((await other.approve()).status).toBe(refused);
        return other.post("/plan/execute", {
          ...other.approved(),
          approvalToken: `${extension.approvalToken.slice(0, -1)}_`,
        });
      },
    ],
    [
      "a restart, after which the form stands for nothing",
      async (extension, server) => {
        await server.restart();
        const later = new PublishedExtension(server.rinaUrl);
        return later.post("/plan/execute", extension.approved());
      },
    ],
  ];
  test.each(attacks)("%s is refused", async (_, attack) => {
    await using server = await openScripted();
    const extension = await client(server);
    expect((await extension.approve()).status).toBe(200);
    const { status } = await attack(extension, server);
    expect(status).toBe(refused);
    expect([made(server), made(server, "other.txt"), existsSync(server.workspace.path("x"))]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("two plans that differ and look the same: neither is approved; the one that was approved before still is", async () => {
    await using server = await openScripted();
    const one = await client(server, "first");
    expect((await one.approve()).status).toBe(200);
    const two = await client(server, "same");
    expect(await two.approve()).toMatchObject({
      status: refused,
      json: { error: expect.stringContaining("look the same") },
    });
    expect((await one.execute()).status).toBe(200);
    expect([made(server), made(server, "other.txt")]).toEqual([true, false]);
  });

  test("a plan that was never handed out has no token", async () => {
    await using server = await openScripted();
    const { plan: held } = await client(server);
    const invented = new PublishedExtension(server.rinaUrl);
    invented.plan = { ...(held as StrippedPlan), title: "invented" };
    expect(await invented.approve()).toMatchObject({ status: refused, json: { ok: false } });
  });

  test("a plan previewed anew elsewhere is not the one that this client was given", async () => {
    await using server = await openScripted();
    const extension = await client(server);
    const { sessions } = await server.client.listSessions({});
    const { plans, manager } = server.running;
    const session = await manager.get(sessions[0]?.sessionId ?? "");
    const [held] = await plans.list(session);
    await server.workspace.write("made.txt", "before\n");
    await plans.preview(session, held?.planId ?? "");
    expect((await extension.approve()).status).toBe(refused);
  });
});
