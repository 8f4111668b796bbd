import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { OwnCalls } from "../context/own-calls.ts";
import type { SessionProposal } from "./session-proposal.ts";

/** At the end of a turn: proposes everything staged, unless exactly this was proposed before and awaits review. */
export async function proposeStaged(
  proposal: SessionProposal,
  turn: {
    readonly own: Pick<OwnCalls, "tools">;
    readonly turnId: string;
    readonly signal: AbortSignal;
    emit(event: SessionEvent): void;
  },
): Promise<void> {
  const { tree } = proposal;
  await proposal.renew();
  if (tree.files.size === 0 || proposal.isProposed) return;
  const { own, turnId, signal } = turn;
  const call = { id: `${turnId}-proposal`, name: "ProposeChanges", argumentsJson: "{}" };
  const [result] = await own.tools.run([call], { turnId, signal });
  if (result !== undefined && result.error === undefined) return;
  const why = result?.error?.message ?? "it was not tried.";
  turn.emit({ type: "warning", text: `What is staged was not proposed, and stays staged: ${why}` });
}
