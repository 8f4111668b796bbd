/** An authorised piece of work, and the paths it may touch. In canonical form, however the file spells it. */
export interface Intent {
  readonly id: string;
  readonly name: string;
  /** As written. */
  readonly status: string;
  /** True only when the status means active. */
  readonly selectable: boolean;
  /** Globs relative to the workspace. Empty owns nothing; `!glob` excludes, and exclusion wins. */
  readonly ownedScope: readonly string[];
  readonly constraints: readonly string[];
  readonly acceptanceCriteria: readonly string[];
}
