import type { Risk } from "@gennai/protocol/model/governance/risk";
import { plainWords } from "../../command/words/plain-words.ts";
import { controlPath } from "../../policies/files/control-paths.ts";
import { isZeroAccess } from "../../policies/files/secrets.ts";
import type { Analysis } from "../../tool.ts";
import type { Verdict } from "../../verdict.ts";
import type { FiredPolicy } from "../decide/run-policies.ts";
import { fileClass } from "./variable-operands.ts";

/** A decided call, as far as a remembered answer has to know it. */
export interface ActionFacts {
  readonly callId: string;
  readonly tool: string;
  readonly statement: string;
  readonly verdict: Verdict["type"];
  readonly risk: Risk;
  /** Every rule that asks, sorted. */
  readonly rules: readonly string[];
  /** Undefined for what no pattern may cover. */
  readonly shape: ActionShape | undefined;
}

export type ActionShape =
  | {
      readonly type: "command";
      readonly words: readonly string[];
      /** Relative to the workspace. */
      readonly cwd: string;
      readonly where: "server" | "client";
      /** What happens to the paths it names, sorted, without duplicates. */
      readonly access: readonly string[];
      /** Hashes of what it depends on, by name. */
      readonly operands: Readonly<Record<string, string>>;
    }
  | { readonly type: "file"; readonly operation: string; readonly path: string };

export function actionFacts(call: {
  readonly callId: string;
  readonly tool: string;
  readonly analysis: Analysis;
  readonly verdict: Verdict;
  readonly fired: readonly FiredPolicy[];
  readonly risk: Risk;
}): ActionFacts {
  const { callId, tool, analysis, verdict, fired, risk } = call;
  const asking = [verdict, ...fired.map((each) => each.verdict)];
  const rules = new Set(
    asking.flatMap((each) => (each.type === "allow" ? [] : [each.finding.rule, ...(each.finding.alongside ?? [])])),
  );
  return {
    callId,
    tool,
    risk,
    statement: analysis.statement,
    verdict: verdict.type,
    rules: [...rules].toSorted(),
    shape: shapeOf(analysis),
  };
}

function shapeOf({ effects, operands }: Analysis): ActionShape | undefined {
  const [effect, ...more] = effects;
  if (effect === undefined || more.length > 0) return undefined;
  if (effect.type === "write") {
    const { path, operation, found } = effect;
    // The yes was given to a command's known result; another command may have another one.
    if (found !== undefined) return undefined;
    // For a link that leads elsewhere, the name is not enough.
    if (!path.inside || isGuarded(path.relative) || fileClass(path.relative) === undefined) return undefined;
    return { type: "file", operation, path: path.relative };
  }
  if (effect.type !== "exec" || !effect.cwd.inside) return undefined;
  const { command, cwd, where } = effect;
  if (command.unresolved.length > 0 || command.dangers.length > 0) return undefined;
  const words = plainWords(command.text);
  const [simple, ...others] = command.commands;
  // Two parsers must agree: one program with exactly these words, and nothing around it.
  if (words === undefined || simple === undefined || others.length > 0 || simple.wrappers.length > 0) return undefined;
  if (simple.name !== words[0] || simple.words.length !== words.length - 1) return undefined;
  if (simple.words.some((word, index) => word !== words[index + 1])) return undefined;
  const root = cwd.relative === "" ? cwd.absolute : cwd.absolute.slice(0, -cwd.relative.length - 1);
  const access = new Set<string>();
  for (const path of command.paths) {
    if (path.pattern === true || !path.absolute.startsWith(`${root}/`)) return undefined;
    if (isGuarded(path.absolute.slice(root.length + 1))) return undefined;
    access.add(path.access);
  }
  return { type: "command", words, cwd: cwd.relative, where, access: [...access].toSorted(), operands: operands ?? {} };
}

/** Files that govern the agent, run by themselves, are obeyed by tools, or hold secrets: each has its own question. */
function isGuarded(relative: string): boolean {
  return controlPath(relative) !== undefined || isZeroAccess(relative);
}
