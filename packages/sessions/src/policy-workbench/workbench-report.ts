import type { DecidedCall } from "@gennai/governance/gate/decide/decided-call";
import { opensConnections } from "@gennai/governance/network/opens-connections";
import type { Analysis } from "@gennai/governance/tool";
import { ask, deny, type Verdict } from "@gennai/governance/verdict";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import { lostWrites } from "../tools/commands/lost-writes.ts";

/** The verdicts of all rules on one call. */
export interface WorkbenchReport {
  readonly tool: string;
  readonly verdict: "allow" | "ask" | "deny";
  /** The outcome; `staged`: the command runs on a copy without a question, and its changes are judged. */
  readonly outcome: "allow" | "staged" | "ask" | "deny";
  readonly risk: Risk;
  /** Rule, reason and hint of the strictest verdict; empty for a plain allow. */
  readonly rule: string;
  readonly reason: string;
  readonly hint: string;
  /** Every rule that asks or denies, strictest first. */
  readonly rules: readonly FiredRule[];
  /** How the call was understood; undefined if it could not run. */
  readonly reading: Reading | undefined;
}

/** An earlier call, judged by today's rules. */
export interface ReplayedCall {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  /** As recorded: canonical JSON, redacted. */
  readonly input: string;
  readonly past: { readonly verdict: WorkbenchReport["verdict"]; readonly rule: string };
  readonly today: {
    readonly verdict: WorkbenchReport["verdict"];
    readonly outcome: WorkbenchReport["outcome"];
    readonly rule: string;
    readonly reason: string;
    readonly risk: Risk;
  };
  /** False if unknown, see `needsIntent`. */
  readonly differs: boolean;
  /** A rule about intents decided then, and no intent is given now: not judged. */
  readonly needsIntent: boolean;
}

/** A rule that asks or denies. */
export interface FiredRule {
  readonly policy: string;
  readonly rule: string;
  readonly verdict: "ask" | "deny";
  readonly reason: string;
  /** `FILE:LINE` in a policy that nobody here can lift; absent for other layers. */
  readonly managed?: string;
}

/** How a call was understood. */
export interface Reading {
  readonly statement: string;
  readonly paths: readonly { readonly raw: string; readonly path: string; readonly access: string }[];
  /** Simple commands, without wrappers; `*` replaces what is unknown before it runs. */
  readonly commands: readonly string[];
  readonly readsOnly: boolean;
  readonly unresolved: readonly string[];
  /** It opens connections and runs staged: the user is asked about each host during the run. */
  readonly asksForHosts: boolean;
  /** Paths outside the workspace that it writes, as typed: it runs staged, so these writes are lost at its end. */
  readonly lost: readonly string[];
}

/** @param options.found all verdicts of rule files on the call */
export function reportOf(
  name: string,
  decided: DecidedCall,
  { found, workspaceRoot }: { readonly found: readonly Verdict[]; readonly workspaceRoot: string },
): WorkbenchReport {
  if (decided.type === "invalid") {
    const { code, message, rule = `tool/${code}`, hint = "" } = decided.error;
    const fired: FiredRule = { policy: "gate", rule, verdict: "deny", reason: message };
    return {
      tool: name,
      verdict: "deny",
      outcome: "deny",
      risk: "low",
      rule,
      reason: message,
      hint,
      rules: [fired],
      reading: undefined,
    };
  }
  const verdicts = decided.fired.flatMap(({ policy, verdict }) =>
    allVerdicts(policy, verdict, found, decided.analysis).map((each) => ({ policy, verdict: each })),
  );
  const finding = decided.verdict.type === "allow" ? undefined : decided.verdict.finding;
  return {
    tool: name,
    verdict: decided.verdict.type,
    outcome: decided.verdict.type === "allow" && isStaged(decided.analysis) ? "staged" : decided.verdict.type,
    risk: decided.risk,
    rule: finding?.rule ?? "",
    reason: finding?.reason ?? "",
    hint: finding?.hint ?? "",
    rules: firedRules(verdicts),
    reading: readingOf(decided.analysis, workspaceRoot),
  };
}

function isStaged({ effects }: Analysis): boolean {
  return effects.some((effect) => effect.type === "exec" && effect.staged === true);
}

/** A policy gives one verdict; some can report all their reasons. */
function allVerdicts(
  policy: string,
  verdict: Verdict,
  found: readonly Verdict[],
  analysis: Analysis,
): readonly Verdict[] {
  // What needs two persons is refused in place of its question.
  if (policy === "rules") return [verdict, ...found];
  if (policy !== "commands") return [verdict];
  const dangers = analysis.effects.flatMap((effect) => (effect.type === "exec" ? effect.command.dangers : []));
  const [, ...more] = dangers.map(({ rule, reason, verdict: type }): Verdict => {
    const finding = { code: "dangerous_command", rule, reason };
    return type === "deny" ? deny(finding) : ask(finding);
  });
  return [verdict, ...more];
}

function firedRules(verdicts: readonly { readonly policy: string; readonly verdict: Verdict }[]): readonly FiredRule[] {
  const fired = new Map<string, FiredRule>();
  for (const type of ["deny", "ask"] as const) {
    for (const { policy, verdict } of verdicts) {
      if (verdict.type !== type) continue;
      const { rule, reason, place } = verdict.finding;
      const isManaged = place !== undefined && (policy === "limits" || rule.startsWith("rules/managed/"));
      const key = `${rule}\0${reason}`;
      if (fired.has(key)) continue;
      fired.set(key, { policy, rule, verdict: type, reason, ...(isManaged ? { managed: place } : {}) });
    }
  }
  return [...fired.values()];
}

function readingOf(analysis: Analysis, workspaceRoot: string): Reading {
  const paths: Reading["paths"][number][] = [];
  const commands: string[] = [];
  const unresolved: string[] = [];
  let readsOnly = true;
  let asksForHosts = false;
  const lost: string[] = [];
  for (const effect of analysis.effects) {
    if (effect.type === "exec") {
      for (const { raw, absolute, access } of effect.command.paths) paths.push({ raw, path: absolute, access });
      for (const { name, words, wrappers } of effect.command.commands) {
        const text = [name, ...words.map((word) => word ?? "*")].join(" ");
        commands.push(wrappers.length === 0 ? text : `${text}  (in ${wrappers.join(" ")})`);
      }
      unresolved.push(...effect.command.unresolved);
      readsOnly &&= effect.command.readsOnly;
      asksForHosts ||= effect.staged === true && opensConnections(effect.command);
      if (effect.staged === true) lost.push(...lostWrites(effect.command, workspaceRoot));
    } else if ("path" in effect) {
      const access =
        effect.type === "write" || effect.type === "propose" ? `${effect.type} ${effect.operation}` : effect.type;
      paths.push({ raw: effect.path.raw, path: effect.path.absolute, access });
      readsOnly &&= effect.type !== "write";
    }
  }
  return { statement: analysis.statement, paths, commands, readsOnly, unresolved, asksForHosts, lost };
}
