import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { answerRequest } from "#manager/answer-request";
import { undoChangeSet } from "#manager/undo";
import { command, never, patch, planBench, refusalOf, seedPlan, write } from "./plan-fixture.ts";

const files = { "src/sum.js": "export const sum = (a, b) => a - b;\n", "old.txt": "one\ntwo\n" };
const mend = [
  "--- a/src/sum.js",
  "+++ b/src/sum.js",
  "@@ -1 +1 @@",
  "-export const sum = (a, b) => a - b;",
  "+export const sum = (a, b) => a + b;",
  "",
].join("\n");
const check = `node --input-type=module -e "import { sum } from './src/sum.js'; if (sum(1, 2) !== 3) process.exit(1); console.log('three')"`;

describe("executing an approved plan", () => {
  test("creates, patches and runs; then verification commands really run and prove it", async () => {
    await using bench = await planBench({ files });
    const { planId, digest, token } = await bench.approved(
      seedPlan([
        { id: "create", actions: [write("new.md", "# New\n")] },
        { id: "mend", actions: [patch("src/sum.js", mend)], verify: [check] },
        { id: "run", actions: [command("echo ran > ran.txt")], verify: ["cat ran.txt"] },
      ]),
    );
    const session = await bench.session();
    const run = await bench.plans().execute(session, planId, digest, token, never);
    expect(run.steps.map(({ id, state, evidence }) => [id, state, evidence.slice(0, 200)])).toEqual([
      ["create", "executed", expect.stringContaining("new.md")],
      ["mend", "executed", expect.stringContaining("src/sum.js")],
      ["run", "executed", expect.stringContaining("exit code 0")],
    ]);
    expect(run).toMatchObject({ state: "verifying", claimed: true, executed: true, verified: false });
    expect(readFileSync(bench.server.workspace.path("src/sum.js"), "utf8")).toContain("a + b");

    const { plan, results } = await bench.plans().verify(session, planId, digest, token, never);
    expect(results).toMatchObject([
      { stepId: "mend", passed: true, exitCode: 0, output: expect.stringContaining("three") },
      { stepId: "run", passed: true, exitCode: 0, output: expect.stringContaining("ran") },
    ]);
    expect(plan).toMatchObject({ state: "done", claimed: true, executed: true, verified: true });
  });

  test("a failing verification command ends the plan failed: executed and verified are two facts", async () => {
    await using bench = await planBench({ files });
    const { planId, digest, token } = await bench.approved(
      seedPlan([{ id: "a", actions: [write("a.txt", "a\n")], verify: ["false"] }]),
    );
    const session = await bench.session();
    await bench.plans().execute(session, planId, digest, token, never);
    const { plan } = await bench.plans().verify(session, planId, digest, token, never);
    expect(plan).toMatchObject({ state: "failed", claimed: true, executed: true, verified: false });
    expect(plan.results).toMatchObject([{ passed: false, exitCode: 1 }]);
  });

  test("a plan with nothing to verify ends unverified and never claims success", async () => {
    await using bench = await planBench({ files });
    const plan = await bench.executed(seedPlan([{ id: "a", actions: [write("a.txt", "a\n")] }]));
    expect(plan).toMatchObject({ state: "unverified", executed: true, verified: false });
    expect(plan.remediation).not.toBe("");
  });

  test("when a step fails, those that depend on it stop; the run is partial, and its undo gives the tree back", async () => {
    await using bench = await planBench({ files });
    const before = readFileSync(bench.server.workspace.path("src/sum.js"));
    const plan = await bench.executed(
      seedPlan([
        { id: "create", actions: [write("deep/new.txt", "new\n")] },
        { id: "mend", actions: [patch("src/sum.js", mend)], verify: [check] },
        { id: "break", actions: [command("cat missing.txt")] },
        { id: "after", actions: [write("after.txt", "x\n")] },
        { id: "apart", actions: [write("apart.txt", "x\n")], depends_on: [] },
      ]),
    );
    expect(plan.state).toBe("partial");
    expect(plan.steps.map(({ state }) => state)).toEqual(["executed", "executed", "failed", "skipped", "executed"]);
    expect(plan.steps[2]).toMatchObject({
      failureClass: "command_error",
      evidence: expect.stringContaining("missing.txt"),
    });
    expect(plan).toMatchObject({ claimed: false, executed: false, verified: false });
    expect(plan.remediation).toContain(plan.runTurnId);
    expect(existsSync(bench.server.workspace.path("after.txt"))).toBe(false);

    await undoChangeSet(await bench.session(), plan.runTurnId);
    expect(await bench.server.workspace.git("status", "--porcelain", "--", ".", ":!.orchestration")).toBe("");
    expect(readFileSync(bench.server.workspace.path("src/sum.js"))).toEqual(before);
  });

  test("a first step that fails leaves the plan failed, not partial", async () => {
    await using bench = await planBench({ files });
    const plan = await bench.executed(seedPlan([{ id: "a", actions: [command("cat missing.txt")] }]));
    expect(plan).toMatchObject({ state: "failed", claimed: false });
    expect(plan.steps).toMatchObject([{ state: "failed", failureClass: "command_error" }]);
  });

  test("a file that changed between preview and execution is not overwritten", async () => {
    await using bench = await planBench({ files });
    const { planId, digest, token } = await bench.approved(
      seedPlan([{ id: "a", actions: [write("old.txt", "mine\n")] }]),
    );
    writeFileSync(bench.server.workspace.path("old.txt"), "theirs\n");
    const execute = async () => refusalOf(bench.plans().execute(await bench.session(), planId, digest, token, never));
    expect(await execute()).toBe("preview_changed");
    expect(readFileSync(bench.server.workspace.path("old.txt"), "utf8")).toBe("theirs\n");
    // Nothing was spent: as it was when it was shown, it is as it was approved.
    writeFileSync(bench.server.workspace.path("old.txt"), files["old.txt"]);
    expect(await execute()).toBe("ok");
    expect(readFileSync(bench.server.workspace.path("old.txt"), "utf8")).toBe("mine\n");
  });

  test("actions build on each other: a command's output file is patched by the next step", async () => {
    await using bench = await planBench({ files });
    const text = "--- a/made.txt\n+++ b/made.txt\n@@ -1 +1 @@\n-one\n+two\n";
    const plan = await bench.executed(
      seedPlan([
        { id: "make", actions: [command("echo one > made.txt")] },
        { id: "mend", actions: [patch("made.txt", text)], verify: ["cat made.txt"] },
      ]),
    );
    expect(plan.state).toBe("verifying");
    expect(readFileSync(bench.server.workspace.path("made.txt"), "utf8")).toBe("two\n");
  });

  test("the approval is no yes to high risk: where nobody can be asked, it does not run", async () => {
    await using bench = await planBench({ files: { ...files, "src/x.txt": "x\n" } });
    const plan = await bench.executed(seedPlan([{ id: "a", actions: [command("rm -r src")] }]));
    expect(plan.steps).toMatchObject([
      { risk: "high", requiresConfirmation: true, state: "failed", failureClass: "permission_denied" },
    ]);
    expect(plan.state).toBe("failed");
    expect(existsSync(bench.server.workspace.path("src"))).toBe(true);
  });

  test.each([
    ["yes", "executed", false],
    ["no", "failed", true],
  ] as const)("high risk asks a person for its own confirmation: %s", async (answer, state, left) => {
    await using bench = await planBench({ files, settings: { interactive: true } });
    const session = await bench.session();
    using _client = session.clients.attach({ clientId: "ann", abilities: new Set(["confirmation"]) });
    const running = bench.executed(
      seedPlan([{ id: "a", actions: [command("touch asked.txt"), command("rm -r src")] }]),
    );
    await expect.poll(() => session.state.openRequests.size).toBe(1);
    for (const [requestId, request] of session.state.openRequests) {
      if (request.kind !== "confirmation") continue;
      const { computed, offeredScopes, actionSha256, actionStatement } = request.question;
      expect([computed.risk, offeredScopes, actionStatement]).toEqual(["high", ["once"], "Run `rm -r src`"]);
      const from = { clientId: "ann", epoch: 0 };
      const given = { kind: "confirmation", answer, scope: "once", reason: "", actionSha256 } as const;
      // A yes to another action is an error, and the question stays open.
      const other = { ...given, answer: "yes", actionSha256: "0".repeat(64) } as const;
      expect(await refusalOf(answerRequest(session, requestId, other, from))).toBe("invalid_argument");
      await answerRequest(session, requestId, given, from);
    }
    const plan = await running;
    expect(plan.steps[0]?.state).toBe(state);
    expect(existsSync(bench.server.workspace.path("src"))).toBe(left);
  });

  test("stopping ends the run: what did not run is skipped", async () => {
    await using bench = await planBench({ files });
    const { planId, digest, token } = await bench.approved(
      seedPlan([
        { id: "a", actions: [write("a.txt", "a\n")] },
        { id: "b", actions: [command("touch begun; sleep 30")] },
        { id: "c", actions: [write("c.txt", "c\n")] },
      ]),
    );
    const session = await bench.session();
    const running = bench.plans().execute(session, planId, digest, token, never);
    await expect.poll(() => existsSync(bench.server.workspace.path("begun"))).toBe(true);
    await session.turns.cancel("enough");
    const plan = await running;
    expect(plan.state).toBe("partial");
    expect(plan.steps.map(({ state }) => state)).toEqual(["executed", "failed", "skipped"]);
    expect(existsSync(bench.server.workspace.path("c.txt"))).toBe(false);
  });
});

test("a run that hangs before it begins is given up, and keeps nobody from the session's other plans", async () => {
  await using bench = await planBench({ files });
  const text = seedPlan([{ id: "create", actions: [write("new.md", "# New\n")] }]);
  const { planId, digest, token } = await bench.approved(text);
  const session = await bench.session();
  const hangs = Promise.withResolvers<void>();
  const sync = session.workspace.syncControl;
  session.workspace.syncControl = () => {
    hangs.resolve();
    return new Promise(() => {});
  };
  const running = bench.plans().execute(session, planId, digest, token, never);
  const outcome = refusalOf(running);
  await hangs.promise;
  await session.turns.cancel("Stopped by the test.");
  expect(await outcome).toBe("failed_precondition");
  session.workspace.syncControl = sync;
  expect(existsSync(bench.server.workspace.path("new.md"))).toBe(false);
  const other = await bench.submit(text);
  await bench.plans().preview(session, other.planId);
  // Nothing of it was spent.
  expect((await bench.plans().execute(session, planId, digest, token, never)).executed).toBe(true);
});
