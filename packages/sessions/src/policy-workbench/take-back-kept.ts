import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ServiceError } from "@gennai/machine/service-error";
import { recoverChanges } from "@gennai/shell/stages/recover-changes";
import { goBack } from "@gennai/stage/commit/way-back";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";

/** Changes that a user kept without a session, and has undone. */
export interface TakenBack {
  /** Its name: the command. */
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly keptAt: number;
}

/**
 * Undoes what was last kept of a command, completely or not at all, and records it. Rejects with `ServiceError`:
 * `not_found`, and `failed_precondition` if the same was changed since; then nothing is changed.
 */
export async function takeBackKept(options: PersonsLedgerOptions): Promise<TakenBack> {
  const stateDir = await prepareStateDirectory(options.stateDir);
  // Completes or removes an interrupted one.
  await recoverChanges(stateDir);
  await using parts = new AsyncDisposableStack();
  let ledger: PersonsLedger | undefined;
  // If it cannot be recorded, nothing is undone.
  const begin = async (): Promise<void> => void (ledger = parts.use(await PersonsLedger.open(options)));
  const back = await goBack(stateDir, options.workspaceRoot, begin).catch((error: unknown) => {
    if (!(error instanceof NotCommitted)) throw error;
    const [first] = error.conflicts;
    const more = error.conflicts.length > 1 ? ` and ${error.conflicts.length - 1} more` : "";
    throw new ServiceError(
      "failed_precondition",
      `Nothing was undone: ${first === undefined ? "" : `${first.path}${more}: ${first.reason}`}.`,
      { reason: "changed_since", hint: "Undo your own change to it first, or restore the file by git.", cause: error },
    );
  });
  if (back === undefined) {
    throw new ServiceError("not_found", "There is nothing to undo here that `gennai try` kept.", {
      hint: "gennai undo undoes what a session changed.",
    });
  }
  const { title = "", keptAt } = back;
  await ledger?.record("undo", { title });
  return { title, keptAt };
}
