import { reviewToApply } from "@gennai/client/host/review-state";
import { closedUnderNeeds } from "@gennai/protocol/model/governance/offered-parts";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { DecidedHunk } from "@gennai/protocol/whole-moves";
import type { KeptOfOffer, Offer, TriedChange } from "@gennai/sessions/policy-workbench/offer-staged";
import { paintFor } from "../terminal/colours.ts";
import { isDrawable } from "../terminal/console.ts";
import type { OfferContext } from "./offered-changes.ts";
import { reviewAtTerminal } from "./review-at-terminal.ts";

/**
 * Has a person review an offer by the hunk: on the whole terminal, or line by line.
 *
 * @returns "left": nothing is decided; undefined: nothing is kept
 */
export async function reviewOffer(
  offer: Offer,
  proposed: readonly ProposedChange[],
  { console, lines, signal }: OfferContext,
): Promise<KeptOfOffer | undefined | "left"> {
  const proposal = asProposal(offer, proposed);
  const { environment, errors } = console;
  const options = {
    input: lines(),
    write: (text: string) => void errors.write(text),
    paint: paintFor(errors, environment),
    environment,
    signal,
    // What rules refuse is kept only where a person says so of it alone.
    apart: new Set(offer.changes.flatMap(({ id, verdict }) => (verdict === "deny" ? [id] : []))),
  };
  if (!isDrawable(console)) return decided(await reviewAtTerminal(proposal, options));
  const { reviewDrawn } = await import("./review-drawn.ts");
  const state = await reviewDrawn(proposal, options);
  return decided(state && reviewToApply(state, proposal, "").hunks);

  function decided(hunks: readonly DecidedHunk[] | undefined): KeptOfOffer | undefined | "left" {
    return hunks === undefined ? "left" : keptHunks(offer.changes, hunks);
  }
}

function asProposal({ changes, neverKept }: Offer, proposed: readonly ProposedChange[]): Proposal {
  const offered = new Map(changes.map((change) => [change.id, change]));
  return {
    proposalId: "offer",
    toolCallId: "",
    changes: proposed.map((change) => ({ ...change, warning: warningOf(offered.get(change.id)) })),
    hasConflicts: false,
    warnings: neverKept.map((left) => `Never kept: ${left}`),
  };
}

function warningOf(change: TriedChange | undefined): string {
  if (change === undefined) return "";
  const { verdict, rule, reason, ignored, what } = change;
  const inGit = what.filter((word) => word.includes(" "));
  return [
    ...inGit,
    ...(rule === "" ? [] : [`${verdict}  ${rule}  ${reason}`]),
    ...(ignored ? ["git ignores it"] : []),
  ].join("; ");
}

/** What these decisions keep. What git holds of a file is all of it, so it is not kept with a part of that file. */
export function keptHunks(changes: readonly TriedChange[], decided: readonly DecidedHunk[]): KeptOfOffer | undefined {
  const inPart = new Map<string, ReadonlyMap<string, DecidedHunk["decision"]>>();
  const undone: string[] = [];
  for (const { id } of changes) {
    const own = decided
      .filter(({ changeId }) => changeId === id)
      .map(({ hunkId, decision }) => [hunkId, decision] as const);
    if (own.every(([, { type }]) => type === "undo")) undone.push(id);
    else if (own.some(([, { type }]) => type !== "keep")) inPart.set(id, new Map(own));
  }
  const dropped = new Set(closedUnderNeeds(changes, [...undone, ...inPart.keys()]));
  for (const id of inPart.keys()) dropped.delete(id);
  return dropped.size === changes.length ? undefined : { dropped, inPart };
}
