import { createHash } from "node:crypto";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { describe, expect, test } from "vitest";
import { never, planBench, refusalOf, seedPlan, write } from "./plan-fixture.ts";

const simple = seedPlan([{ id: "a", actions: [write("a.txt", "a\n")], verify: ["cat a.txt"] }]);

describe("a process that goes away", () => {
  test("between the spending of the token and the execution: the token stays spent, the run reads interrupted", async () => {
    await using bench = await planBench();
    const { planId, digest, token } = await bench.approved(simple);
    const tokenSha256 = createHash("sha256").update(token).digest("hex");
    const { id } = await bench.session();
    const { log } = bench.server.running.manager.services;
    const changed = (change: Extract<SessionEvent, { readonly type: "plan-changed" }>["change"]): SessionEvent => ({
      type: "plan-changed",
      planId,
      change,
    });
    // What the opening transaction of a run holds, by a process that did not live to do anything after it.
    const events: readonly SessionEvent[] = [
      { type: "status", state: "started", iteration: 0 },
      changed({ type: "run-opened", runTurnId: "run", tokenSha256 }),
      changed({ type: "step", stepId: "a", state: "running", evidence: "" }),
    ];
    const batch = {
      events: events.map((event) => ({ turnId: "run", itemId: "", time: 1, event })),
      ledger: [],
      spentTokens: [tokenSha256],
      durable: true,
    };
    const head = await log.head(id);
    await log.append(id, batch, { seq: head?.lastSeq ?? 0, epoch: head?.epoch ?? 0 });
    await bench.server.restart();

    const session = await bench.session();
    const plan = await bench.plans().get(session, planId);
    expect(plan).toMatchObject({ state: "interrupted", claimed: false, executed: false, verified: false });
    expect(plan.steps).toMatchObject([{ state: "failed", failureClass: "partial_execution" }]);
    expect(plan.remediation).toContain("may or may not");
    expect(await refusalOf(bench.plans().execute(session, planId, digest, token, never))).toBe("token_spent");
    expect(await refusalOf(bench.plans().verify(session, planId, digest, token, never))).toBe("illegal_state");
    expect(session.state.openTurn).toBe(undefined);
  });

  test("the store takes a token once, and what came with the second one is not in", async () => {
    await using bench = await planBench();
    const { id } = await bench.session();
    const { log } = bench.server.running.manager.services;
    const spend = async () => {
      const head = await log.head(id);
      const event: SessionEvent = { type: "warning", text: "spent" };
      const batch = {
        events: [{ turnId: "", itemId: "", time: 1, event }],
        ledger: [],
        spentTokens: ["f".repeat(64)],
        durable: true,
      };
      await log.append(id, batch, { seq: head?.lastSeq ?? 0, epoch: head?.epoch ?? 0 });
      return (await log.head(id))?.lastSeq;
    };
    const seq = await spend();
    await expect(spend()).rejects.toThrow();
    expect((await log.head(id))?.lastSeq).toBe(seq);
  });
});
