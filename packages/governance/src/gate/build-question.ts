import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import type { ConfirmationScope, Question } from "../confirmation.ts";
import type { Effect } from "../effect.ts";
import type { Finding } from "../verdict.ts";
import type { DecidedCall } from "./decide-call.ts";

/** The one question that a call's asks become. Its digest names the exact action; an answer must repeat it. */
export function buildQuestion(
  decided: DecidedCall & { readonly type: "decided" },
  finding: Finding,
  context: { readonly turnId: string; readonly policySha256: string },
): Question {
  const { analysis, tool, call, risk } = decided;
  const paths = affectedPaths(analysis.effects);
  const actionJson = canonicalJson({ tool: tool.name, arguments: JSON.parse(decided.argumentsJson) as unknown, paths });
  const offeredScopes: readonly ConfirmationScope[] = risk === "high" ? ["once"] : ["once", "turn", "session"];
  return {
    callId: call.id,
    turnId: context.turnId,
    toolName: tool.name,
    title: `Allow ${tool.name}?`,
    intentReflection: "No intent is selected for this session.",
    actionStatement: analysis.statement,
    impactStatement: impactOf(analysis.effects, risk),
    modelClaim: analysis.claim ?? "",
    computed: { risk, paths, rule: finding.rule, reason: finding.reason, policySha256: context.policySha256 },
    actionJson,
    actionSha256: sha256Hex(actionJson),
    offeredScopes,
  };
}

function affectedPaths(effects: readonly Effect[]): readonly string[] {
  const paths = new Set<string>();
  for (const effect of effects) {
    if (effect.type === "exec") for (const path of effect.command.paths) paths.add(path.absolute);
    else if ("path" in effect) paths.add(effect.path.inside ? effect.path.relative : effect.path.absolute);
  }
  return [...paths];
}

function impactOf(effects: readonly Effect[], risk: string): string {
  const impacts: string[] = [];
  for (const effect of effects) {
    if (effect.type === "exec" && !effect.command.readsOnly) {
      impacts.push(
        effect.where === "server"
          ? "A command runs with your rights on this machine."
          : "A command is typed into your terminal.",
      );
      for (const reason of effect.command.unresolved) impacts.push(`Not known before it runs: ${reason}.`);
    }
    if (effect.type === "write" && effect.operation === "delete") impacts.push(`${effect.path.relative} is deleted.`);
    if (effect.type === "net") impacts.push(`Data leaves this machine for ${effect.url}.`);
  }
  if (risk === "high") impacts.push("It may not be possible to take this back.");
  return impacts.join(" ");
}
