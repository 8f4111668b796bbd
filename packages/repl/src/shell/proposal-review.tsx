import type { CallOptions } from "@gennai/client/connection/connection";
import { carriedOut } from "@gennai/client/host/review-state";
import type { ProposalItem } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import { useCallback } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { VisibleText } from "../look/visible-text.tsx";
import { applyProposal } from "../review/apply-proposal.ts";
import type { ReviewOutcome } from "../review/review-outcome.tsx";
import { ReviewPanel } from "../review/review-panel.tsx";

/** What a question would keep, before its answer; else the chosen proposal, else the newest undecided one, else the newest. */
export function ProposalReview({ control }: { readonly control: ReplControl }) {
  const diff = control.confirmations.open.value[0]?.diff;
  if (diff === undefined) return <Proposals control={control} />;
  return (
    <div class="g-panel">
      <ChangeDiff diff={diff} />
    </div>
  );
}

function Proposals({ control }: { readonly control: ReplControl }) {
  const followed = control.followed.value;
  const view = followed?.view.value;
  const session = followed?.session;
  const blob = useCallback(
    async (sha256: string, options: CallOptions) => {
      if (session === undefined) throw new Error("There is no session.");
      return session.blob(sha256, options);
    },
    [session],
  );
  const proposals = view === undefined ? [] : proposalsOf(view);
  const chosen = proposals.find(({ proposal }) => proposal.proposalId === control.reviewed.value);
  const item = chosen ?? proposals.findLast(({ review }) => review === undefined) ?? proposals.at(-1);
  if (item === undefined || view === undefined || session === undefined) {
    return <p class="empty">Nothing is proposed. In Proposal Mode, changes come here before anything is written.</p>;
  }
  const { proposal, review } = item;
  const { proposalId } = proposal;
  const { openDiff, runHostCommand } = control.host;
  const settled = settledOutcome(item, view);
  const here = control.reviews.of(proposal);
  const appliers = { host: control.host, session };
  return (
    <ReviewPanel
      key={proposalId}
      proposal={proposal}
      sessionId={session.sessionId}
      state={settled === undefined || review === undefined ? here : carriedOut(here, review.hunks)}
      onState={(state) => control.reviews.set(state)}
      blob={blob}
      settled={settled}
      apply={(chosen) => applyProposal(appliers, chosen, proposal, { signal: control.signal })}
      onUndo={(changeSetId) => control.sessions.undoChangeSet(changeSetId)}
      onAskAgain={(prompt) => {
        control.panel.value = "chat";
        control.turns.send(prompt);
      }}
      {...(runHostCommand === undefined ? {} : { onShowAll: () => void runHostCommand("showAllChanges") })}
      {...(openDiff === undefined ? {} : { onOpenDiff: (changeId: string) => void openDiff({ proposalId, changeId }) })}
    />
  );
}

function proposalsOf(view: SessionView): readonly ProposalItem[] {
  // Read to subscribe to new items.
  if (view.count.value === 0) return [];
  return view.cells.flatMap(({ item, key }) => {
    if (!key.startsWith("proposedChanges:")) return [];
    return item.value.kind === "proposal" ? [item.value] : [];
  });
}

function settledOutcome({ review, changeSetId }: ProposalItem, view: SessionView): ReviewOutcome | undefined {
  if (changeSetId === undefined) {
    const keepsNothing = review?.hunks.every(({ decision }) => decision === "undo") ?? false;
    return keepsNothing ? { type: "nothing-kept" } : undefined;
  }
  const cell = view.cells.findLast(({ item }) => {
    const value = item.value;
    return value.kind === "change-set" && value.changeSetId === changeSetId;
  });
  const set = cell?.item.value;
  if (set?.kind !== "change-set") return undefined;
  return set.undone ? { type: "undone" } : { type: "applied", files: set.files.map(({ path }) => path), changeSetId };
}

/** What would be kept, line by line; hidden characters are named. @param diff unified */
export function ChangeDiff({ diff }: { readonly diff: string }) {
  const lines = diff.replace(/\n$/, "").split("\n");
  return (
    <pre class="g-code confirmation-diff" aria-label="What would be kept" tabIndex={0}>
      {lines.map((line, index) => (
        <span key={`${index}`} class={lineClass(line)}>
          <VisibleText text={`${line}\n`} />
        </span>
      ))}
    </pre>
  );
}

function lineClass(line: string): string {
  if (/^(?:\+\+\+|---) /.test(line)) return "confirmation-diff-file";
  if (line.startsWith("+")) return "confirmation-diff-added";
  return line.startsWith("-") ? "confirmation-diff-removed" : "";
}
