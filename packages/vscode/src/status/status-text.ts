import { contextWords, costWords } from "@gennai/client/session/usage-meter";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { turnWords } from "@gennai/client/view/turn-words";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import type { LinkState } from "../server/server-link.ts";
import { emergencyWords, type GovernanceFacts } from "../session/governance-facts.ts";

export interface StatusFacts {
  readonly link: LinkState;
  readonly trusted: boolean;
  /** True if another window works on this workspace. */
  readonly watching: boolean;
  /** Empty if unknown. */
  readonly backend: string;
  readonly model: string;
  readonly branch: string;
  readonly mode: EditingMode;
  readonly session: Pick<SessionFacts, "turn" | "questions" | "openProposals" | "usage">;
  readonly governance: GovernanceFacts;
}

export interface StatusText {
  /** Text with codicons. */
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
  readonly tone: "plain" | "warning" | "error";
  /** What a click does: a question that waits is shown. */
  readonly command: "gennai.openRepl" | "gennai.showMenu";
  /** Name and value, plain text. */
  readonly rows: readonly (readonly [name: string, value: string])[];
}

/**
 * The status bar's text; the editor's own Git shows the branch. The most urgent state comes first: an emergency, a question, a
 * lost server, the running turn.
 */
export function statusText(facts: StatusFacts): StatusText {
  const emergency = emergencyWords(facts.governance.emergency);
  const head = headline(facts, emergency);
  return {
    text: `$(${head.icon}) ${icons(head.text)}${isConnected(facts.link) ? meter(facts) : ""}`,
    label: `${/^Gennai\b/.test(head.text) ? "" : "Gennai: "}${head.text}`,
    tone: head.tone,
    command: head.icon === "question" ? "gennai.openRepl" : "gennai.showMenu",
    rows: rows(facts, emergency),
  };
}

/** Context and cost, short: the tooltip has the rest. Empty during a question or an emergency. */
function meter({ session: { usage, questions }, governance }: StatusFacts): string {
  if (questions.size > 0 || emergencyWords(governance.emergency).length > 0) return "";
  const words = [contextWords(usage).replace("context ", "$(pie-chart) "), icons(costWords(usage))];
  return words.map((each) => (each === "" ? "" : ` ${each}`)).join("");
}

interface Headline {
  readonly icon: string;
  readonly text: string;
  readonly tone: StatusText["tone"];
}

function headline(
  { link, session, trusted, watching, backend, model }: StatusFacts,
  emergency: readonly string[],
): Headline {
  if (!trusted) return { icon: "workspace-untrusted", text: "Gennai: not trusted", tone: "plain" };
  if (link.type === "idle") return { icon: "debug-disconnect", text: "Gennai", tone: "plain" };
  if (link.type === "connecting") return { icon: "loading~spin", text: "Gennai: connecting", tone: "plain" };
  if (link.type === "failed") return { icon: "debug-disconnect", text: "Gennai: no server", tone: "warning" };
  if (link.type === "lost") return { icon: "sync-ignored", text: "Gennai: reconnecting", tone: "warning" };
  const first = emergency[0];
  if (first !== undefined) {
    return { icon: "stop-circle", text: `Gennai: ${first}${emergency.length > 1 ? " …" : ""}`, tone: "error" };
  }
  if (session.questions.size > 0) return { icon: "question", text: "Gennai needs your answer", tone: "warning" };
  if (watching) return { icon: "eye", text: "Gennai: watching", tone: "plain" };
  if (session.turn !== undefined) {
    return { icon: "loading~spin", text: `Gennai: ${turnWords(session.turn)}`, tone: "plain" };
  }
  return { icon: "comment-discussion", text: modelName(backend, shortModel(model)), tone: "plain" };
}

function rows(facts: StatusFacts, emergency: readonly string[]): StatusText["rows"] {
  const { session, governance } = facts;
  const found: (readonly [string, string])[] = [["Server", serverWords(facts.link)]];
  if (facts.watching) found.push(["This window", "only watches: another window works on this workspace"]);
  if (facts.backend !== "") found.push(["Model", modelName(facts.backend, facts.model)]);
  found.push([
    "Editing",
    facts.mode === "branch" ? `on ${facts.branch === "" ? "a branch" : facts.branch}` : "proposals",
  ]);
  if (governance.ruleCount !== undefined) found.push(["Rules", `${governance.ruleCount} in force`]);
  if (governance.managedBy.length > 0) found.push(["Managed by", governance.managedBy.join(", ")]);
  if (governance.lastViolation !== "") found.push(["Last violation", governance.lastViolation]);
  if (emergency.length > 0) found.push(["Emergency", emergency.join(", ")]);
  if (session.questions.size > 0) found.push(["Waiting for you", [...session.questions.values()].join(", ")]);
  const { inputTokens, outputTokens, contextTokens, maxContextTokens } = session.usage;
  if (inputTokens + outputTokens > 0) {
    const cost = costWords(session.usage);
    found.push(["Tokens", `${inputTokens} in, ${outputTokens} out${cost === "" ? "" : `, ${cost} by list prices`}`]);
  }
  if (maxContextTokens > 0) found.push(["Context", `${contextTokens} of ${maxContextTokens} tokens`]);
  if (session.openProposals.size > 0) found.push(["Proposals", `${session.openProposals.size} to review`]);
  return found;
}

function serverWords(link: LinkState): string {
  switch (link.type) {
    case "connected":
      return `${link.url}, version ${link.version}`;
    case "lost":
      return `${link.url} does not answer: ${link.reason}`;
    case "failed":
      return "none";
    case "connecting":
      return "connecting";
    case "idle":
      return "not connected yet";
  }
}

function modelName(backend: string, model: string): string {
  if (backend === "") return "Gennai";
  return model === "" || model === backend ? backend : `${backend}/${model}`;
}

/** The file name of a model that is a path; the tooltip has the whole path. */
function shortModel(model: string): string {
  return /^(?:[\\/]|[a-z]:)/i.test(model) ? (model.split(/[\\/]/).at(-1) ?? model) : model;
}

/** True if a server is known, even if it does not answer just now. */
function isConnected(link: LinkState): boolean {
  return link.type === "connected" || link.type === "lost";
}

/** Prevents text from outside from becoming icons. */
function icons(text: string): string {
  return text.replaceAll("$(", "$ (");
}

interface RulesText {
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
