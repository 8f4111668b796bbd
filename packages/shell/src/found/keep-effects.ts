import { announcedSecrets } from "@gennai/machine/redaction/announced-secrets";
import { mask, mergeRanges } from "@gennai/machine/redaction/secret-range";
import { systemErrorCode } from "@gennai/machine/system-error";
import { aloneWithCommits } from "@gennai/stage/commit/commit-lock";
import { cutHardLinks, takeLayerPart } from "@gennai/stage/commit/take-layer-part";
import { forgetCommit } from "@gennai/stage/commit/undo-commit";
import { forgetOldWaysBack, hasWayBack } from "@gennai/stage/commit/way-back";
import { SessionLayer } from "@gennai/stage/layer/session-layer";
import type { Observation, StageEffect } from "@gennai/stage/observe/effect";
import { StageUnavailable } from "@gennai/stage/transaction/stage-error";
import { removeTransaction, type Transaction } from "@gennai/stage/transaction/transaction";
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
