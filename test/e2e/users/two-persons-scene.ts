import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { ServerOptions } from "@gennai/server/tenants/server-options";
import { type ManyUsersServer, startManyUsersServer, type TestUser } from "@gennai/testkit/many-users";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, vi } from "vitest";
import { eventsOf, Watcher } from "../rpc/session-client.ts";

const directory = "/etc/gennai";
const policy = `gennai_policy: 1
name: acme
rules:
  bashToolPatterns: [{ name: no-touch, pattern: '^touch ', reason: production, ask: true, match: ["touch a"] }]
answers: { two_persons: ["rules/managed/no-*"] }
...
`;
const approver = { roles: ["gennai-approver"] };
/** Wants two persons for a command. */
export const twoPersonsPolicy: ServerOptions["policyFiles"] = {
  directory,
  list: (at) => (at === directory ? ["policy.yaml"] : []),
  read: async () => policy,
};
export const touchesScript = [{ steps: [bash("touch made.txt"), { text: ["Done."] }] }];

/** A server under a policy that wants two persons for a command. Ada has agreed to it. */
export async function twoPersonsScene(options: Pick<ServerOptions, "pageDirectory"> = {}) {
  await using parts = new AsyncDisposableStack();
  const world = parts.use(
    await startManyUsersServer({
      script: touchesScript,
      server: { policyFiles: twoPersonsPolicy, ...options },
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
    told: () => eventsOf(editor.events, "warning"),
    records: async () => {
      const { records } = await ada.governance.listLedgerRecords({ sessionId: editor.sessionId });
      return records.map(({ json }) => json).join("\n");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The one question that waits for this person. */
export async function waiting(person: Pick<TestUser, "governance">) {
  return vi.waitFor(async () => {
    const { approvals } = await person.governance.listApprovals({});
    const [approval] = approvals;
    if (approval?.question === undefined) throw new Error("Nothing waits.");
    return { ...approval, question: approval.question };
  });
}

export function answer(
  person: Pick<TestUser, "governance">,
  { question }: Awaited<ReturnType<typeof waiting>>,
  said: object = {},
) {
  const { requestId, actionSha256, computed } = question;
  const response = { requestId, actionSha256, answer: ConfirmationAnswer.YES, ...said };
  return person.governance.answerApproval({ response, policySha256: computed?.policySha256 ?? "", ...said });
}

export function bobOf(world: ManyUsersServer): Promise<TestUser> {
  return world.user({ user: "bob", ...approver });
}
