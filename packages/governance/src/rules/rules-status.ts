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

/** The status in words, as people know it from damage-control extensions. */
export function rulesStatusText(status: {
  readonly count: number;
  /** Why everything is read-only; undefined when it is not. */
  readonly readOnly: string | undefined;
  /** Number of errors in rule files that did not lead to read-only. */
  readonly errors: number;
  /** Empty when there was none for a while. */
  readonly recentViolation: string;
}): string {
  if (status.readOnly !== undefined)
    return `⛔ Damage-Control: rules cannot be used, everything is read-only (${status.readOnly})`;
  if (status.recentViolation !== "") return `⚠️ Last Violation: ${status.recentViolation}`;
  const active = `🛡️ Damage-Control Active: ${status.count} ${status.count === 1 ? "Rule" : "Rules"}`;
  return status.errors === 0
    ? active
    : `${active} (${status.errors} ${status.errors === 1 ? "error" : "errors"} in rule files)`;
}
