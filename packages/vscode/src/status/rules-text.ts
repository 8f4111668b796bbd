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

/** The status bar's text about damage control; undefined until a server has reported. */
export function rulesText({ link, governance }: Pick<StatusFacts, "link" | "governance">): RulesText | undefined {
  const { rulesText: said, lastViolation, ruleProblems } = governance;
  if (said === "" || !isConnected(link)) return undefined;
  const characters = [...said];
  return {
    text: icons(characters.length <= longest ? said : `${characters.slice(0, longest - 1).join("")}…`),
    label: said,
    details: [said, `Last violation: ${lastViolation === "" ? "none" : lastViolation}`, ...ruleProblems.slice(0, 5)],
  };
}
