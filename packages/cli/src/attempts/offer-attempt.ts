import type { Attempt, Attempts } from "@gennai/sessions/attempts/attempt";
import type { KeptAttempts } from "@gennai/sessions/attempts/kept-attempts";
import type { TriedChange } from "@gennai/sessions/policy-workbench/try/offer-staged";
import {
  decideOffer,
  describeKept,
  describeOffer,
  keptOf,
  type OfferContext,
  type OfferDecision,
} from "../review/offered-changes.ts";
import { openStagingWorkbench } from "../review/staging-workbench.ts";
import { paintFor } from "../terminal/colours.ts";
import { commandName } from "../terminal/console.ts";

export interface OfferAttemptRequest {
  readonly of: Attempts;
  readonly attempt: Attempt;
  readonly kept: KeptAttempts;
  readonly wishes: Parameters<typeof decideOffer>[1];
  readonly json: boolean;
}

/** What happened to an attempt that was offered. */
export interface OfferedAttempt {
  readonly kept: readonly TriedChange[];
  /** True if nobody could be asked. */
  readonly unasked: boolean;
}

/**
 * Offers an attempt's changes for the workspace as it is now: shows and judges them, asks, and keeps what was chosen as one set.
 * Rejects with `ServiceError` if the workspace is not as the attempts found it; then nothing is kept.
 */
export async function offerAttempt(
  { of, attempt, kept, wishes, json }: OfferAttemptRequest,
  place: OfferContext,
): Promise<OfferedAttempt> {
  const { console, signal } = place;
  await using workbench = await openStagingWorkbench(of.workspace, console);
  signal.throwIfAborted();
  let decision: OfferDecision = { dropped: undefined, unasked: false };
  const changes = attempt.changes.map(({ path, before, after }) => ({ path, before, after }));
  const offer = await workbench.offerFiles(changes, ({ after }) => kept.bytes(of.id, after?.sha256 ?? ""), {
    title: `attempt ${attempt.number} of “${of.prompt.slice(0, 200)}”`,
    by: "attempt",
    choose: async (made) => {
      if (!json) console.output.write(describeOffer(made, paintFor(console.output, console.environment)));
      if (made.changes.length > 0) decision = await decideOffer(made, wishes, place);
      return decision.dropped;
    },
  });
  const chosen = keptOf(offer.changes, decision);
  if (!json) {
    const all =
      chosen.length === offer.changes.length
        ? "all of it is"
        : `${chosen.length} of ${offer.changes.length} changes are`;
    const name = commandName(console.environment);
    console.output.write(
      chosen.length === 0
        ? `Nothing was kept, the workspace is as before. To take it later: ${name} attempts take ${attempt.number}\n`
        : `Attempt ${attempt.number}: ${all} in the workspace now.\n${describeKept(offer.changes, chosen, name)}`,
    );
  }
  return { kept: chosen, unasked: decision.unasked };
}
