/** The rules in force, in words for people. */
export interface RulesStatus {
  readonly count: number;
  /** E.g. `🛡️ Damage-Control Active: 142 Rules`, or the last violation. */
  readonly text: string;
  /** Empty when there was none. */
  readonly lastViolation: string;
  /** Problems with rule files: file, line, what to do. */
  readonly problems: readonly string[];
  readonly policySha256: string;
}
