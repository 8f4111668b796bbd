import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import { refusalOf } from "../rpc/session-client.ts";
import { answer, bobOf, twoPersonsScene as scene, waiting } from "./two-persons-scene.ts";

test("what two persons have to agree to runs after the yes of both, and the ledger names both", async () => {
  await using on = await scene();
  const bob = await bobOf(on.world);
  const approval = await waiting(bob);
  expect(approval).toMatchObject({
    agreedBy: "ada",
    question: { actionJson: expect.stringContaining("touch made.txt") },
  });
  expect((await on.ada.governance.listApprovals({})).approvals).toEqual([]);
  expect(await refusalOf(answer(on.ada, approval))).toMatchObject({ code: "permission_denied" });
  const stranger = await on.world.user({ user: "bob", tenant: "other", roles: ["gennai-approver"] });
  expect((await stranger.governance.listApprovals({})).approvals).toEqual([]);
  expect(await refusalOf(answer(stranger, approval))).toMatchObject({ code: "failed_precondition" });
  const otherRules = { policySha256: "0".repeat(64) };
  expect(await refusalOf(answer(bob, approval, otherRules))).toMatchObject({ code: "failed_precondition" });
  expect(on.isWritten()).toBe(false);
  await answer(bob, approval);
  expect(await on.editor.end()).toBe("COMPLETED");
  expect(on.isWritten()).toBe(true);
  expect(await refusalOf(answer(bob, approval))).toMatchObject({ code: "failed_precondition" });
  expect(on.told().slice(-2)).toEqual(["A second person has ten minutes to agree as well.", "bob agreed as well."]);
  expect(await on.records()).toMatch(/"by":"ada at editor-1".*"second":\{"at":\d+,"by":"bob"\}/);
});

test.each<[string, object, RegExp]>([
  ["a no", { answer: ConfirmationAnswer.NO, reason: "not today" }, /The second person denied execution: not today/],
  ["a yes to something else", { actionSha256: "0".repeat(64) }, /did not name the action/],
])("%s of the second person ends it", async (_what, said, reason) => {
  await using on = await scene();
  const bob = await bobOf(on.world);
  await answer(bob, await waiting(bob), said);
  expect((await on.editor.next("toolResult")).error).toMatch(reason);
  expect(on.isWritten()).toBe(false);
  expect(await on.records()).toMatch(/"by":"bob","first":\{"by":"ada at editor-1"\}/);
});

test("when the turn is stopped, nothing waits any more", async () => {
  await using on = await scene();
  const bob = await bobOf(on.world);
  const approval = await waiting(bob);
  await on.ada.client.cancelTurn({ sessionId: on.editor.sessionId });
  await on.editor.end();
  expect((await bob.governance.listApprovals({})).approvals).toEqual([]);
  expect(await refusalOf(answer(bob, approval))).toMatchObject({ code: "failed_precondition" });
  expect(on.isWritten()).toBe(false);
});
