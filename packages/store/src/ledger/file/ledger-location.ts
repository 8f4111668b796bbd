/** Which ledger of which store. */
export interface LedgerLocation {
  readonly stateDir: string;
  /** Real absolute path. */
  readonly workspaceRoot: string;
}
