import type { FileChange, FoundPart } from "@gennai/governance/tool";
import { PersonsLedger, type PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";

/** Staged work of which a person has chosen. */
export interface ChosenWork {
  /** What it is, as it is recorded and taken back: the command. */
  readonly title: string;
  /** How it came about, e.g. `try`. */
  readonly by: string;
  /** Another agent that did it. */
  readonly agent?: string | undefined;
  readonly parts: readonly FoundPart[];
  /** Ids. */
  readonly dropped: ReadonlySet<string>;
  keep(dropped: ReadonlySet<string>, title: string): Promise<readonly FileChange[]>;
}

/**
 * Writes the chosen parts into the workspace, in a way that can be taken back. What the person chose is in the ledger before, and what
 * came of it after; where nothing can be recorded, nothing is kept. Rejects with `StoreError`, and as `keep` does.
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
