import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { isAtLeast, type Risk } from "@gennai/protocol/model/governance/risk";
import type { Question } from "../../confirmation.ts";
import type { Effect } from "../../effect.ts";
import { needsSecondPerson } from "../../limits/two-persons.ts";
import type { Finding } from "../../verdict.ts";
import type { DecidedCall } from "../decide/decided-call.ts";

/** The circumstances of an action that are part of its question. */
export interface QuestionContext {
  readonly turnId: string;
  readonly policySha256: string;
  /** The intent the session works under; undefined when none is selected. */
  readonly intent: { readonly id: string; readonly name: string } | undefined;
}

/** The one question that a call's asks become. Its digest names the exact action; an answer must repeat it. */
export function buildQuestion(
  decided: DecidedCall & { readonly type: "decided" },
  finding: Finding,
  context: QuestionContext,
): Question {
  const { analysis, tool, call, risk } = decided;
  const { turnId, policySha256, intent } = context;
  const paths = affectedPaths(analysis.effects);
  const actionJson = canonicalJson({
    tool: tool.name,
    arguments: JSON.parse(decided.argumentsJson) as unknown,
    paths,
    ...(analysis.operands === undefined ? {} : { operands: analysis.operands }),
    ...(analysis.done === undefined ? {} : { done: analysis.done }),
  });
  const actionSha256 = sha256Hex(actionJson);
  const secondPerson = needsSecondPerson(decided.fired);
  const onlyOnce = secondPerson || isAtLeast(risk, "high");
  const offeredScopes: readonly ConfirmationScope[] = onlyOnce ? ["once"] : ["once", "turn", "session"];
  return {
    callId: call.id,
    turnId,
    toolName: tool.name,
    title: `Allow ${tool.name}?`,
    intentReflection:
      intent === undefined
        ? "No intent is selected for this session."
        : `This serves the intent ${intent.id}: ${intent.name === "" ? "(no name)" : intent.name}.`,
    actionStatement: analysis.statement,
    impactStatement: [impactOf(analysis.effects, risk), secondPerson ? twoNeeded : ""].filter(Boolean).join(" "),
    modelClaim: analysis.claim ?? "",
    computed: { risk, paths, rule: finding.rule, reason: finding.reason, policySha256 },
    rememberStatement: onlyOnce
      ? ""
      : `A yes for this turn or session answers the rule ${finding.rule} for this action alone (${tool.name}, SHA-256 ${actionSha256.slice(0, 12)}…).`,
    actionJson,
    actionSha256,
    offeredScopes,
    ...(finding.answerMs === undefined ? {} : { answerMs: finding.answerMs }),
    ...(secondPerson ? { secondPerson } : {}),
  };
}

/** What a question says that needs two persons. */
export const twoNeeded = "A second person has to agree as well.";

function affectedPaths(effects: readonly Effect[]): readonly string[] {
  const paths = new Set<string>();
  for (const effect of effects) {
    if (effect.type === "exec") for (const path of effect.command.paths) paths.add(path.absolute);
    else if ("path" in effect) paths.add(effect.path.inside ? effect.path.relative : effect.path.absolute);
  }
  return [...paths];
}

function impactOf(effects: readonly Effect[], risk: Risk): string {
  const impacts: string[] = [];
  for (const effect of effects) {
    if (effect.type === "exec" && !effect.command.readsOnly) {
      impacts.push(effect.staged === true ? staged : whereItRuns(effect.where));
      for (const reason of effect.command.unresolved) impacts.push(`Not known before it runs: ${reason}.`);
    }
    if (effect.type === "write" && effect.operation === "delete") impacts.push(`${effect.path.relative} is deleted.`);
    if (effect.type === "external")
      impacts.push(`The MCP server ${effect.server} does it; Gennai cannot see what it does.`);
    if (effect.type === "net" && effect.wanted === undefined) impacts.push(`Data is sent to ${effect.url}.`);
  }
  if (isAtLeast(risk, "high")) impacts.push("It may not be possible to undo this.");
  return impacts.join(" ");
}

const staged = "A command runs on a copy, and what it changes is looked at before it is kept.";

/** For both persons of a session that has two: neither machine is that of each reader. */
function whereItRuns(where: "server" | "client"): string {
  if (where === "client") return "A command runs in the terminal of the session's user, with that person's rights.";
  return "A command runs where the files are, with the rights of whoever runs Gennai there; no sandbox isolates it.";
}
