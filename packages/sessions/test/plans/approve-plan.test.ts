import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ann, command, never, type PlanBench, patch, planBench, refusalOf, seedPlan, write } from "./plan-fixture.ts";

const simple = seedPlan([{ id: "a", actions: [write("a.txt", "a\n")], verify: ["cat a.txt"] }]);
const wrongToken = "A".repeat(43);

describe("the authority boundary", () => {
  test("seed 000 state: no execution unless state == awaiting_approval", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const { planId, digest } = await bench.submit(simple);
    expect(await refusalOf(bench.plans().execute(session, planId, digest, wrongToken, never))).toBe("illegal_state");
    expect(await refusalOf(bench.plans().approve(session, planId, digest, ann))).toBe("illegal_state");
    expect(await refusalOf(bench.plans().verify(session, planId, digest, wrongToken, never))).toBe("token_unknown");
    expect(existsSync(bench.server.workspace.path("a.txt"))).toBe(false);
  });

  test("seed 000 hash: no execution unless the plan hash matches the approved hash", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const { planId, digest, token } = await bench.approved(simple);
    const other = await bench.approved(simple.replace("a.txt", "b.txt"));
    const execute = (hash: string) => refusalOf(bench.plans().execute(session, planId, hash, token, never));
    expect(await execute(other.digest)).toBe("digest_mismatch");
    for (const form of [
      digest.toUpperCase(),
      `0x${digest}`,
      digest.slice(0, 8),
      Buffer.from(digest, "hex").toString("base64"),
      "",
    ]) {
      expect(await execute(form)).toBe("bad_digest");
      expect(await refusalOf(bench.plans().approve(session, planId, form, ann))).toBe("bad_digest");
    }
    expect(await execute(digest)).toBe("ok");
  });

  test("seed 000 token: no execution unless the approval token is valid", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const { planId, digest, token } = await bench.approved(simple);
    const execute = (tried: string) => refusalOf(bench.plans().execute(session, planId, digest, tried, never));
    expect(await execute("")).toBe("token_missing");
    for (const tried of [
      token.slice(0, -1),
      `${token}\n`,
      token.toLowerCase() === token ? `${token}=` : token.toLowerCase(),
    ]) {
      expect(await execute(tried)).toBe("token_unknown");
    }
    expect(await execute(wrongToken)).toBe("token_unknown");
    expect(await execute(wrongToken)).toBe("too_many_attempts");
    expect(await execute(token)).toBe("token_unknown");
  });

  test("seed 000 binding: approval tokens are bound to one plan, and to one session", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const first = await bench.approved(simple);
    const second = await bench.approved(simple);
    expect(await refusalOf(bench.plans().execute(session, first.planId, first.digest, second.token, never))).toBe(
      "token_bound_elsewhere",
    );
    const { manager } = bench.server.running;
    const elsewhere = await manager.start(manager.services.defaultSettings, "");
    expect(await refusalOf(bench.plans().execute(elsewhere, first.planId, first.digest, first.token, never))).toBe(
      "unknown_plan",
    );
    const same = await bench.plans().submit(elsewhere, simple, { strict: true, contract: false });
    const planId = same.plan?.planId ?? "";
    await bench.plans().preview(elsewhere, planId);
    await bench.plans().approve(elsewhere, planId, first.digest, ann);
    expect(await refusalOf(bench.plans().execute(elsewhere, planId, first.digest, first.token, never))).toBe(
      "token_bound_elsewhere",
    );
  });

  test("a token is spent once: replays are refused, and of 100 at the same time one runs", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const { planId, digest, token } = await bench.approved(
      seedPlan([{ id: "a", actions: [command("echo once >> count.txt")], verify: ["cat count.txt"] }]),
    );
    const ends = await Promise.all(
      Array.from({ length: 100 }, () => refusalOf(bench.plans().execute(session, planId, digest, token, never))),
    );
    expect(ends.filter((end) => end === "ok")).toHaveLength(1);
    expect(await refusalOf(bench.plans().execute(session, planId, digest, token, never))).toBe("token_spent");
    const { results } = await bench.plans().verify(session, planId, digest, token, never);
    expect(results[0]?.output).toMatch(/^once\n\[exit code 0\]/);
    expect(await refusalOf(bench.plans().verify(session, planId, digest, token, never))).toBe("illegal_state");
  });

  test("a later approval or preview voids the earlier token", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const { planId, digest, token } = await bench.approved(simple);
    const again = await bench.plans().approve(session, planId, digest, ann);
    expect(await refusalOf(bench.plans().execute(session, planId, digest, token, never))).toBe("token_unknown");
    await bench.plans().preview(session, planId);
    expect(await refusalOf(bench.plans().execute(session, planId, digest, again.approvalToken, never))).toBe(
      "token_unknown",
    );
  });

  test("seed 000 immutable: any change to a plan invalidates the approval; white space and key order are none", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    const { planId, digest, token } = await bench.approved(simple);
    const submit = async (text: string) =>
      (await bench.plans().submit(session, text, { strict: true, contract: false })).plan?.digest;
    const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(simple)).reverse()), null, 3);
    expect(await submit(reordered)).toBe(digest);
    const places = [...simple.matchAll(/"(?:[^"\\]|\\.)+"/g)].map((match) => (match.index ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.constantFrom("x", "Z", "7"), async (at, letter) => {
        const changed = simple.slice(0, at) + letter + simple.slice(at + 1);
        fc.pre(changed !== simple);
        const other = await submit(changed);
        expect(other).not.toBe(digest);
        // Not even a plan, or one whose hash the token does not open.
        if (other !== undefined)
          expect(await refusalOf(bench.plans().execute(session, planId, other, token, never))).toBe("digest_mismatch");
      }),
      { numRuns: 25 },
    );
  });

  test("an action that a rule denies cannot be approved", async () => {
    await using bench = await planBench();
    const session = await bench.session();
    for (const action of [command("rm -rf /"), write("../outside.txt", "x"), write(".git/hooks/pre-commit", "x")]) {
      const { planId, digest } = await bench.submit(seedPlan([{ id: "a", actions: [action] }]));
      const { plan, actions } = await bench.plans().preview(session, planId);
      expect([plan.state, actions[0]?.verdict, actions[0]?.change]).toEqual(["preview", "deny", undefined]);
      expect(await refusalOf(bench.plans().approve(session, planId, digest, ann))).toBe("action_denied");
    }
  });
});

describe("preview", () => {
  test("shows real diffs, on top of each other, and runs and writes nothing", async () => {
    await using bench = await planBench({ files: { "a.txt": "one\ntwo\n" } });
    const status = () => bench.server.workspace.git("status", "--porcelain", "--", ".", ":!.orchestration");
    const before = await status();
    const { planId } = await bench.submit(
      seedPlan([
        { id: "w", actions: [write("a.txt", "one\n2\n"), write("new.txt", "new\n")] },
        { id: "p", actions: [patch("a.txt", "@@ -1,2 +1,2 @@\n-one\n+1\n 2\n")] },
        { id: "c", actions: [command("touch never.txt"), command("ls")] },
      ]),
    );
    const { plan, actions } = await bench.plans().preview(await bench.session(), planId);
    expect(plan.state).toBe("awaiting_approval");
    expect(
      actions.map(({ stepId, verdict, risk, change, command: text }) => [
        stepId,
        verdict,
        risk,
        change?.operation ?? text,
        change?.conflict,
      ]),
    ).toEqual([
      ["w", "allow", "medium", "update", false],
      ["w", "allow", "medium", "create", false],
      ["p", "allow", "medium", "update", false],
      ["c", "ask", "medium", "touch never.txt", undefined],
      ["c", "allow", "low", "ls", undefined],
    ]);
    expect(actions[0]?.change?.unifiedDiff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    expect(actions[2]?.change?.unifiedDiff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n 2\n");
    expect(await status()).toBe(before);
  });

  let shared: PlanBench;
  beforeAll(async () => {
    shared = await planBench({ files: { "a.txt": "one\ntwo\n", "b.txt": "b\n" } });
  });
  afterAll(() => shared[Symbol.asyncDispose]());

  test.each([
    [
      "a patch that does not fit",
      patch("a.txt", "@@ -1 +1 @@\n-nine\n+9\n"),
      /does not fit the present text of a\.txt/,
    ],
    ["a patch of a file that is not there", patch("none.txt", "@@ -1 +1 @@\n-a\n+b\n"), /There is no file none\.txt/],
    ["a patch that is none", patch("a.txt", "please change it"), /holds no hunk|no unified diff|exactly one file/],
    ["one that an earlier action took the ground from", patch("b.txt", "@@ -1 +1 @@\n-b\n+c\n"), /does not fit/],
  ])("seed 000: %s reaches no approval, and says why", async (_name, action, why) => {
    const bench = shared;
    const session = await bench.session();
    const text = seedPlan([
      { id: "w", actions: [write("b.txt", "other\n")] },
      { id: "p", actions: [action] },
    ]);
    const { planId, digest } = await bench.submit(text);
    const { plan, actions } = await bench.plans().preview(session, planId);
    expect(plan.state).toBe("preview");
    expect(actions[1]?.change).toMatchObject({ conflict: true, warning: expect.stringMatching(why) });
    expect(await refusalOf(bench.plans().approve(session, planId, digest, ann))).toBe("change_does_not_fit");
    expect((await bench.plans().get(session, planId)).state).toBe("preview");
    expect(await bench.server.workspace.git("status", "--porcelain", "--", "a.txt", "b.txt")).toBe("");
  });
});

describe("restart", () => {
  test("a plan survives at every state, and so does an approval: its token works once", async () => {
    await using bench = await planBench();
    const draft = await bench.submit(simple);
    const previewed = await bench.submit(simple);
    await bench.plans().preview(await bench.session(), previewed.planId);
    const run = await bench.approved(simple);
    await bench.plans().execute(await bench.session(), run.planId, run.digest, run.token, never);
    const waiting = await bench.approved(simple.replaceAll("a.txt", "b.txt"));
    await bench.server.restart();
    const session = await bench.session();
    const states = await Promise.all(
      [draft, waiting, run].map(async ({ planId }) => (await bench.plans().get(session, planId)).state),
    );
    expect(states).toEqual(["draft", "awaiting_approval", "verifying"]);
    const execute = (plan: typeof run, token = plan.token) =>
      refusalOf(bench.plans().execute(session, plan.planId, plan.digest, token, never));
    expect(await execute(run)).toBe("token_spent");
    expect(await execute(waiting, wrongToken)).toBe("token_unknown");
    expect(await execute(waiting)).toBe("ok");
    expect(existsSync(bench.server.workspace.path("b.txt"))).toBe(true);
    expect(await execute(waiting)).toBe("token_spent");
    const approved = await bench.plans().approve(session, previewed.planId, previewed.digest, ann);
    expect(approved.approvalToken).toMatch(/^[\w-]{43}$/);
    const { plan } = await bench.plans().verify(session, run.planId, run.digest, run.token, never);
    expect(plan.state).toBe("done");
    await bench.server.restart();
    const later = await bench.session();
    const again = bench.plans().execute(later, waiting.planId, waiting.digest, waiting.token, never);
    expect(await refusalOf(again)).toBe("token_spent");
  });

  const changes: readonly [string, string, (bench: PlanBench) => unknown][] = [
    ["a commit", "head_moved", ({ server }) => server.workspace.git("commit", "--quiet", "--allow-empty", "-m", "x")],
    ["a switch of branches", "head_moved", ({ server }) => server.workspace.git("switch", "--quiet", "-c", "other")],
    [
      "rules",
      "policy_changed",
      ({ server }) => {
        mkdirSync(server.workspace.path(".gennai"));
        writeFileSync(server.workspace.path(".gennai/rules.yaml"), "readOnlyPaths: ['docs/']\n");
      },
    ],
    [
      "the file it writes",
      "preview_changed",
      ({ server }) => writeFileSync(server.workspace.path("a.txt"), "theirs\n"),
    ],
    [
      "an emergency control",
      "emergency_changed",
      async ({ server }) => {
        const path = "/gennai.agent.v1.GovernanceService/SetEmergencyControl";
        const answer = await fetch(`${server.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${server.token}` },
          body: JSON.stringify({ control: "EMERGENCY_CONTROL_DISABLE_HIGH_IMPACT", enabled: true, reason: "test" }),
        });
        expect(answer.status).toBe(200);
      },
    ],
    [
      "a new intent file",
      "intent_changed",
      ({ server }) => {
        mkdirSync(server.workspace.path(".orchestration"), { recursive: true });
        writeFileSync(
          server.workspace.path(".orchestration/active_intents.yaml"),
          "active_intents:\n  - {id: INT-1, name: n, status: IN_PROGRESS, owned_scope: ['**'], constraints: [], acceptance_criteria: []}\n",
        );
      },
    ],
  ];
  test.each(changes)(
    "%s between approval and execution is refused, across a restart too",
    async (_, reason, change) => {
      await using bench = await planBench();
      const { planId, digest, token } = await bench.approved(simple);
      await change(bench);
      await bench.server.restart();
      const execute = async () => refusalOf(bench.plans().execute(await bench.session(), planId, digest, token, never));
      await expect.poll(execute).toBe(reason);
      expect(await bench.server.workspace.git("status", "--porcelain", "--", "a.txt")).not.toContain(" M");
    },
  );

  test("guesses void an approval for every process", async () => {
    await using bench = await planBench();
    const { planId, digest, token } = await bench.approved(simple);
    const execute = async (tried: string) =>
      refusalOf(bench.plans().execute(await bench.session(), planId, digest, tried, never));
    for (let attempt = 0; attempt < 5; attempt += 1) await execute(wrongToken);
    await bench.server.restart();
    expect(await execute(token)).toBe("token_unknown");
  });

  test("only the hash of a token is kept", async () => {
    await using bench = await planBench();
    const { token } = await bench.approved(simple);
    const bytes = await Promise.all(
      (await readdir(bench.server.stateDir, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => readFile(join(entry.parentPath, entry.name))),
    );
    expect(bytes.some((content) => content.includes(token))).toBe(false);
    const hash = createHash("sha256").update(token).digest("hex");
    expect(bytes.some((content) => content.includes(hash))).toBe(true);
  });

  test("one damaged plan is shown as that, hides no other, and can do nothing", async () => {
    await using bench = await planBench();
    const whole = await bench.approved(simple);
    const damaged = await bench.approved(simple.replaceAll("a.txt", "b.txt"));
    const blobs = join(bench.server.stateDir, "blobs");
    const file = (await readdir(blobs, { recursive: true })).find((name) => name.endsWith(damaged.digest)) ?? "";
    writeFileSync(join(blobs, file), "{}");
    await bench.server.restart();
    const session = await bench.session();
    const plans = await bench.plans().list(session);
    expect(plans.map(({ planId, planJson }) => [planId, planJson !== ""])).toEqual([
      [damaged.planId, false],
      [whole.planId, true],
    ]);
    expect(plans[0]).toMatchObject({ title: "Test plan", remediation: expect.stringContaining("Submit it again") });
    const execute = (plan: typeof whole) =>
      refusalOf(bench.plans().execute(session, plan.planId, plan.digest, plan.token, never));
    expect(await execute(damaged)).toBe("plan_damaged");
    expect(await execute(whole)).toBe("ok");
  });
});

test("staged and in the workspace: a plan's commands run, what they write is there, and it is proven", async () => {
  for (const commands of ["auto", "ask"] as const) {
    await using bench = await planBench({ server: { commands } });
    const { planId, digest, token } = await bench.approved(
      seedPlan([
        { id: "w", actions: [write("a.txt", "a\n")] },
        { id: "c", actions: [command("cat a.txt > b.txt")], verify: ["cat b.txt"] },
      ]),
    );
    const session = await bench.session();
    const run = await bench.plans().execute(session, planId, digest, token, never);
    expect(run).toMatchObject({ state: "verifying", executed: true });
    const { plan } = await bench.plans().verify(session, planId, digest, token, never);
    expect(plan).toMatchObject({ state: "done", verified: true });
    expect(await bench.server.workspace.read("b.txt")).toBe("a\n");
  }
});
