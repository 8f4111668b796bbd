import { icons, isConnected, type StatusFacts } from "./status-text.ts";

export interface RulesText {
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
  /** Plain text, one entry per line. */
  readonly details: readonly string[];
}

/** Most characters in the status bar; the tooltip has the rest. */
const longest = 64;

/**
 * The status bar's text about damage control: the shield with the number of rules, or for a moment what one of them stopped.
 * undefined until a server has reported.
 */
export function rulesText({ link, governance }: Pick<StatusFacts, "link" | "governance">): RulesText | undefined {
  const { rulesText: said, ruleCount, lastViolation, ruleProblems } = governance;
  if (said === "" || !isConnected(link)) return undefined;
  const characters = [...said];
  const cut = icons(characters.length <= longest ? said : `${characters.slice(0, longest - 1).join("")}…`);
  const isShield = said.startsWith("\u{1F6E1}") && ruleCount !== undefined;
  return {
    text: isShield ? `$(shield) ${ruleCount}${ruleProblems.length > 0 ? " $(warning)" : ""}` : cut,
    label: said,
    details: [said, `Last violation: ${lastViolation === "" ? "none" : lastViolation}`, ...ruleProblems.slice(0, 5)],
  };
}
