import type { Analysis } from "@gennai/governance/tool";
import { ask, deny, type Verdict } from "@gennai/governance/verdict";

/** A rule that asks or denies. */
export interface FiredRule {
  readonly policy: string;
  readonly rule: string;
  readonly verdict: "ask" | "deny";
  readonly reason: string;
}

/** How a call was understood. */
export interface Reading {
  readonly statement: string;
  readonly paths: readonly { readonly raw: string; readonly path: string; readonly access: string }[];
  /** Simple commands, wrappers taken off; `*` stands for what is not known before it runs. */
  readonly commands: readonly string[];
  readonly readsOnly: boolean;
  readonly unresolved: readonly string[];
}

/** A policy gives one verdict; some can say all that led to it. */
export function allVerdicts(
  policy: string,
  verdict: Verdict,
  found: readonly Verdict[],
  analysis: Analysis,
): readonly Verdict[] {
  if (policy === "rules" && found.length > 0) return found;
  if (policy !== "commands") return [verdict];
  const dangers = analysis.effects.flatMap((effect) => (effect.type === "exec" ? effect.command.dangers : []));
  const [, ...more] = dangers.map(({ rule, reason, verdict: type }): Verdict => {
    const finding = { code: "dangerous_command", rule, reason };
    return type === "deny" ? deny(finding) : ask(finding);
  });
  return [verdict, ...more];
}

export function firedRules(
  verdicts: readonly { readonly policy: string; readonly verdict: Verdict }[],
): readonly FiredRule[] {
  const fired = new Map<string, FiredRule>();
  for (const type of ["deny", "ask"] as const) {
    for (const { policy, verdict } of verdicts) {
      if (verdict.type !== type) continue;
      const { rule, reason } = verdict.finding;
      const key = `${rule}\0${reason}`;
      if (!fired.has(key)) fired.set(key, { policy, rule, verdict: type, reason });
    }
  }
  return [...fired.values()];
}

export function readingOf(analysis: Analysis): Reading {
  const paths: Reading["paths"][number][] = [];
  const commands: string[] = [];
  const unresolved: string[] = [];
  let readsOnly = true;
  for (const effect of analysis.effects) {
    if (effect.type === "exec") {
      for (const { raw, absolute, access } of effect.command.paths) paths.push({ raw, path: absolute, access });
      for (const { name, words, wrappers } of effect.command.commands) {
        const text = [name, ...words.map((word) => word ?? "*")].join(" ");
        commands.push(wrappers.length === 0 ? text : `${text}  (in ${wrappers.join(" ")})`);
      }
      unresolved.push(...effect.command.unresolved);
      readsOnly &&= effect.command.readsOnly;
    } else if ("path" in effect) {
      const access =
        effect.type === "write" || effect.type === "propose" ? `${effect.type} ${effect.operation}` : effect.type;
      paths.push({ raw: effect.path.raw, path: effect.path.absolute, access });
      readsOnly &&= effect.type !== "write";
    }
  }
  return { statement: analysis.statement, paths, commands, readsOnly, unresolved };
}
