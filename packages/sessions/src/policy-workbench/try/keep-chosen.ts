import type { FileChange, FoundPart } from "@gennai/governance/tool";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";

/** Staged changes, of which a user has chosen some. */
export interface ChosenWork {
  /** Name in records and for undo: the command. */
  readonly title: string;
  /** Origin, e.g. `try`. */
  readonly by: string;
  /** Other agent that did it. */
  readonly agent?: string | undefined;
  readonly parts: readonly FoundPart[];
  /** Ids. */
  readonly dropped: ReadonlySet<string>;
  keep(dropped: ReadonlySet<string>, title: string): Promise<readonly FileChange[]>;
}

/**
 * Writes the chosen parts into the workspace, so that they can be undone. The ledger records the choice before, and the result
 * afterwards; if it cannot be recorded, nothing is kept. Rejects with `StoreError`, and like `keep`.
 */
export async function keepChosen(
  { title, by, agent, parts, dropped, keep }: ChosenWork,
  ledgerOf: PersonsLedgerOptions,
): Promise<readonly FileChange[]> {
  await using ledger = await PersonsLedger.open(ledgerOf);
  const what = { by, title, ...(agent === undefined ? {} : { agent }) };
  const names = (isDropped: boolean): readonly string[] =>
    parts.filter(({ id }) => dropped.has(id) === isDropped).map(({ name }) => name);
  await ledger.record("review", { ...what, kept: names(false), dropped: names(true) });
  const files = await keep(dropped, title);
  await ledger.record("applied", { ...what, kept: names(false) }, { files });
  return files;
}
