import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { Trial } from "@gennai/sessions/policy-workbench/try/try-command";
import type { WorkbenchReport } from "@gennai/sessions/policy-workbench/workbench-report";
import { colouredDiff, outcomeColours, type Paint } from "../terminal/colours.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";

type Rules = Pick<PolicyWorkbench, "status" | "unstaged" | "intentsIgnored">;

/** The verdict of all rules on one call, for users. */
export function describeReport(report: WorkbenchReport, workbench: Rules, paint: Paint): string {
  const hosts =
    report.outcome !== "deny" && report.reading?.asksForHosts === true ? [entry("network", hostsAreAsked)] : [];
  return described(report, hosts, workbench, paint);
}

const hostsAreAsked = "it connects to a host only after you allow that host; you are asked while it runs";

function described(report: WorkbenchReport, network: readonly string[], workbench: Rules, paint: Paint): string {
  const { outcome, risk, reason, hint, rules, reading } = report;
  const why = outcome === "staged" ? "It runs on a copy; what it changes is judged before it is kept." : reason;
  const lines = [
    `${paint(outcomeColours[outcome], outcome)}  risk ${risk}${why === "" ? "" : `  ${terminalSafe(why)}`}`,
  ];
  // The hint that the agent gets: a person can often use it, too.
  if (hint !== "") lines.push(entry("to agent", hint));
  for (const rule of rules) {
    lines.push(entry(rule.verdict, `${rule.rule}  ${rule.reason}`));
    if (rule.managed !== undefined) lines.push(entry("managed", rule.managed));
  }
  if (reading !== undefined) {
    lines.push(entry("read as", `${reading.statement}${reading.readsOnly ? "  (proven to only read)" : ""}`));
    for (const command of reading.commands) lines.push(entry("runs", command));
    for (const { raw, path, access } of reading.paths)
      lines.push(entry(access, raw === path ? path : `${path}  (${raw})`));
    if (outcome !== "deny" && reading.lost.length > 0) {
      lines.push(
        entry(
          "not kept",
          `${reading.lost.join(", ")}: outside the workspace, and what is written there is gone when it ends`,
        ),
      );
    }
    for (const text of reading.unresolved) lines.push(entry("unknown", text));
    if (reading.commands.length > 0 && workbench.unstaged !== undefined) {
      lines.push(entry("here", `commands are not staged: ${workbench.unstaged}`));
    }
  }
  if (workbench.intentsIgnored && outcome !== "deny" && reading?.readsOnly === false) {
    lines.push(entry("intents", "changes need one here, and that is not judged: name one with --intent ID"));
  }
  lines.push(...network, entry("rules", workbench.status.text));
  return lines.join("\n");
}

/** The effects of a tried command, and the rules' verdict on them. */
export function describeTried(
  { report, trial }: { readonly report: WorkbenchReport; readonly trial: Trial | undefined },
  workbench: Rules,
  paint: Paint,
): string {
  const call = described(report, [], workbench, paint);
  if (trial === undefined) return call;
  const end = trial.exitCode === undefined ? trial.state : `exit code ${trial.exitCode}`;
  const lines = [entry("ran", `${end}; nothing it did was kept`)];
  for (const line of trial.output.replace(/\n$/, "").split("\n")) if (line !== "") lines.push(entry("", line));
  for (const note of trial.notes) lines.push(entry("network", note));
  if (trial.changes.length === 0) lines.push(entry("changes", "nothing"));
  for (const { name, what, verdict, rule, reason } of trial.changes) {
    const why = rule === "" ? "" : terminalSafe(`  ${rule}  ${reason}`);
    lines.push(`  ${paint(outcomeColours[verdict], verdict.padEnd(8))} ${spelledOut(name)}  ${what.join(", ")}${why}`);
  }
  for (const left of trial.neverKept) lines.push(entry("never", left));
  const diff = trial.diff === "" ? [] : [colouredDiff(spelledOut(trial.diff), paint)];
  return [call, ...lines, ...diff].join("\n").replace(/\n$/, "");
}

/** A line of the report. Text of others is made safe here, before anything is painted. */
function entry(name: string, text: string): string {
  return `  ${name.padEnd(8)} ${terminalSafe(text)}`;
}
