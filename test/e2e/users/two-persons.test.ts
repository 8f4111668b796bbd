import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test, vi } from "vitest";
import { refusalOf, Watcher } from "../rpc/session-client.ts";

const directory = "/etc/gennai";
const policy = `gennai_policy: 1
name: acme
rules:
  bashToolPatterns: [{ name: no-touch, pattern: '^touch ', reason: production, ask: true, match: ["touch a"] }]
answers: { two_persons: ["rules/managed/no-*"] }
...
`;
const approver = { roles: ["gennai-approver"] };

/** A server under a policy that wants two persons for a command. Ada has agreed to it. */
async function scene() {
  await using parts = new AsyncDisposableStack();
  const world = parts.use(
    await startManyUsersServer({
      script: [{ steps: [bash("touch made.txt"), { text: ["Done."] }] }],
      server: {
        policyFiles: {
          directory,
          list: (at) => (at === directory ? ["policy.yaml"] : []),
          read: async () => policy,
        },
      },
    }),
  );
  const ada = await world.user({ user: "ada", ...approver });
  const editor = parts.use(await Watcher.begin({ url: world.server.url, token: ada.token, client: ada.client }));
  const question = await editor.next("confirmationRequest");
  expect(question.impactStatement).toContain("A second person has to agree as well.");
  expect(question.offeredScopes).toHaveLength(1);
  await editor.answer(question);
  const place = (await ada.client.resumeSession({ sessionId: editor.sessionId })).session?.workingDir ?? "";
  const owned = parts.move();
  return {
    world,
    ada,
    editor,
    isWritten: () => existsSync(join(place, "made.txt")),
    records: async () => {
      const { records } = await ada.governance.listLedgerRecords({ sessionId: editor.sessionId });
      return records.map(({ json }) => json).join("\n");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The one question that waits for this person. */
async function waiting(person: TestUser) {
  return vi.waitFor(async () => {
    const { approvals } = await person.governance.listApprovals({});
    const [approval] = approvals;
    if (approval?.question === undefined) throw new Error("Nothing waits.");
    return { ...approval, question: approval.question };
  });
}

function answer(person: TestUser, { question }: Awaited<ReturnType<typeof waiting>>, said: object = {}) {
  const { requestId, actionSha256, computed } = question;
  const response = { requestId, actionSha256, answer: ConfirmationAnswer.YES, ...said };
  return person.governance.answerApproval({ response, policySha256: computed?.policySha256 ?? "", ...said });
}

function bobOf(world: ManyUsersServer): Promise<TestUser> {
  return world.user({ user: "bob", ...approver });
}

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
  const stranger = await on.world.user({ user: "bob", tenant: "other", ...approver });
  expect((await stranger.governance.listApprovals({})).approvals).toEqual([]);
  expect(await refusalOf(answer(stranger, approval))).toMatchObject({ code: "failed_precondition" });
  const otherRules = { policySha256: "0".repeat(64) };
  expect(await refusalOf(answer(bob, approval, otherRules))).toMatchObject({ code: "failed_precondition" });
  expect(on.isWritten()).toBe(false);
  await answer(bob, approval);
  expect(await on.editor.end()).toBe("COMPLETED");
  expect(on.isWritten()).toBe(true);
  expect(await refusalOf(answer(bob, approval))).toMatchObject({ code: "failed_precondition" });
  expect(await on.records()).toMatch(/"by":"ada at editor-1".*"second":\{"at":\d+,"by":"bob"\}/);
});

test.each<[string, object, RegExp]>([
  ["a no", { answer: ConfirmationAnswer.NO, reason: "not today" }, /not today/],
  ["a yes to something else", { actionSha256: "0".repeat(64) }, /did not name the action/],
])("%s of the second person ends it", async (_what, said, reason) => {
  await using on = await scene();
  const bob = await bobOf(on.world);
  await answer(bob, await waiting(bob), said);
  expect((await on.editor.next("toolResult")).error).toMatch(reason);
  expect(on.isWritten()).toBe(false);
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
