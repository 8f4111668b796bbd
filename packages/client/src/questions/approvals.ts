import type { Approval } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { pause } from "../connection/back-off.ts";
import type { AgentClient, CallOptions, GovernanceClient } from "../connection/connection.ts";
import type { ConfirmationQuestion, ConfirmationReply, Editor } from "../connection/editor.ts";
import { confirmationQuestion, confirmationResponse, showsWhatItApproves } from "./confirmation.ts";

/** Milliseconds until it is looked again what waits; and, for a user who cannot be a second person, whether they became one. */
const lookAgainMs = 3000;
const roleAgainMs = 30_000;

/**
 * Asks this user, as the second person, what others agreed to, as long as it waits and the user can be one. Ends at once on a server
 * without such persons; else it rejects with the signal's reason.
 * @param on.failed told of each answer that was not taken; what still waits is asked again
 */
export async function askApprovals(
  { agent, governance }: { readonly agent: AgentClient; readonly governance: GovernanceClient },
  on: CallOptions & {
    readonly confirm: NonNullable<Editor["confirm"]>;
    readonly isSeen: () => boolean;
    readonly failed: (error: unknown) => void;
  },
): Promise<void> {
  const { confirm, isSeen, failed, signal } = on;
  const asked = new Map<string, AbortController>();
  const ask = async (id: string, approval: Approval): Promise<void> => {
    const over = new AbortController();
    asked.set(id, over);
    const asking = AbortSignal.any([signal, over.signal]);
    try {
      const reply = await confirm(approvalQuestion(approval), { signal: asking });
      await answerApproval(governance, approval, reply, { signal }).catch((error: unknown) => {
        asked.delete(id);
        throw error;
      });
    } catch (error) {
      if (!asking.aborted) failed(error);
    }
  };
  let isApprover: boolean | undefined;
  for (;;) {
    if (isSeen() && isApprover !== true) {
      const features = (await agent.getServerInfo({}, { signal }).catch(() => undefined))?.features;
      isApprover = features?.includes("approvals");
      if (isApprover === false && features?.includes("two-persons") === false) return;
    }
    const looks = isSeen() && isApprover === true;
    const listed = looks ? await governance.listApprovals({}, { signal }).catch(() => undefined) : undefined;
    if (listed !== undefined) {
      const waiting = new Map(listed.approvals.map((each) => [each.question?.requestId ?? "", each]));
      for (const [id, over] of asked) {
        // A server that did not answer may still wait for it.
        if (waiting.has(id) || listed.unanswered.some((server) => id.startsWith(server))) continue;
        over.abort();
        asked.delete(id);
      }
      for (const [id, approval] of waiting) if (!asked.has(id)) void ask(id, approval);
    }
    // The role may be gone.
    if (looks && listed === undefined) isApprover = undefined;
    await pause(isApprover === false ? roleAgainMs : lookAgainMs, { signal });
  }
}

/** What the second person is asked: all that the first one agreed to. Throws if the question does not show the action that it is about. */
export function approvalQuestion({ question, agreedBy, workspace, without }: Approval): ConfirmationQuestion {
  if (question === undefined || !showsWhatItApproves(question)) {
    throw new Error("The question does not show the action that it is about.");
  }
  const { parts: _kept, ...shown } = confirmationQuestion(question);
  const notKept = without.length === 0 ? "" : `Not kept: ${without.join(", ")}.`;
  return {
    ...shown,
    agreedBy,
    impactStatement: [`${agreedBy} agreed to this in ${workspace}.`, notKept, shown.impactStatement]
      .filter((text) => text !== "")
      .join(" "),
  };
}

/** Rejects with `ConnectError`. */
export async function answerApproval(
  governance: GovernanceClient,
  { question }: Approval,
  reply: ConfirmationReply,
  options: CallOptions,
): Promise<void> {
  if (question === undefined) return;
  const response = confirmationResponse(question, reply);
  await governance.answerApproval({ response, policySha256: question.computed?.policySha256 ?? "" }, options);
}
