import { announcedSecrets } from "../../redaction/announced-secrets.ts";
import { mask, mergeRanges } from "../../redaction/secret-range.ts";
import { aloneWithCommits } from "../../stage/commit/commit-lock.ts";
import { cutHardLinks, takeLayerPart } from "../../stage/commit/take-layer-part.ts";
import { forgetCommit } from "../../stage/commit/undo-commit.ts";
import { forgetOldWaysBack, hasWayBack } from "../../stage/commit/way-back.ts";
import { SessionLayer } from "../../stage/layer/session-layer.ts";
import type { Observation, StageEffect } from "../../stage/observe/effect.ts";
import { StageUnavailable } from "../../stage/transaction/stage-error.ts";
import { removeTransaction, type Transaction } from "../../stage/transaction/transaction.ts";
import { systemErrorCode } from "../../system-error.ts";
import { commitOrRemove } from "./commit-or-remove.ts";

/** Prepares the part that goes into the session's layer. Removes the transaction if it throws. */
export async function takeForLayer(
  transaction: Transaction,
  { layer, effects, markers }: Observation,
  { session, command }: { readonly session: string; readonly command: string },
): Promise<void> {
  const root = transaction.roots[layer?.root ?? 0];
  if (layer === undefined || root === undefined) return;
  try {
    cutHardLinks(
      root,
      effects.filter((effect) => effect.root === layer.root),
    );
    const shown = mask(command, mergeRanges(announcedSecrets(command)));
    await takeLayerPart(root, layer.part, { marker: markers[layer.root] ?? 0n, session, command: shown });
  } catch (error) {
    await removeTransaction(transaction);
    throw error;
  }
}

/** Commits, and gives the session's layer its part. Throws only if nothing is kept. @returns the layers that were added to */
export async function keepEffects(
  stateDir: string,
  transaction: Transaction,
  { observation, kept }: { readonly observation: Observation; readonly kept: readonly StageEffect[] },
): Promise<{ readonly layers: readonly SessionLayer[]; readonly notInLayer: string | undefined }> {
  if (kept.length > 0) await commitOrRemove(transaction, observation, kept);
  let layers: readonly SessionLayer[];
  try {
    // If the process dies before this, the next start does it once the commit is complete.
    layers = await SessionLayer.adopt(stateDir, transaction);
  } catch (error) {
    // What was committed stays, and the caller needs to know that to undo it. The next start tries the layer again.
    if (kept.length === 0) await removeTransaction(transaction);
    return { layers: [], notInLayer: reasonOf(error) };
  }
  await (kept.length > 0
    ? settleCommit(stateDir, transaction.id)
    : removeTransaction(transaction).catch(() => undefined));
  return { layers, notInLayer: undefined };
}

/** Ends a commit: its earlier files go, or stay as its way back, and older ones beyond the limits go. Never rejects. */
export async function settleCommit(stateDir: string, id: string): Promise<void> {
  const settled = hasWayBack(stateDir, id)
    ? aloneWithCommits(stateDir, () => forgetOldWaysBack(stateDir, Date.now()))
    : forgetCommit(stateDir, id);
  // Left-over files only take space until the next start.
  await settled.catch(() => undefined);
}

function reasonOf(error: unknown): string {
  if (error instanceof StageUnavailable) return error.message;
  return `${systemErrorCode(error) ?? "an error"} in the state directory`;
}
