import { homedir } from "node:os";
import { resolve } from "node:path";
import { describeRuleProblem } from "@gennai/governance/rules/compile/rule-set";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { plural } from "@gennai/protocol/plural";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { Trial } from "@gennai/sessions/policy-workbench/try-command";
import type { ReplayedCall, WorkbenchReport } from "@gennai/sessions/policy-workbench/workbench-report";
import { allowedAhead } from "../review/persons-network-here.ts";
import { usageError } from "../terminal/cli-error.ts";
import { colouredDiff, outcomeColours, type Paint, paintFor } from "../terminal/colours.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { jsonLine, terminalSafe } from "../terminal/terminal-safe.ts";
import { writeLines } from "../terminal/write-lines.ts";
import { type Said, said } from "./command-host.ts";
import { limitsWith } from "./limits-here.ts";
import { type CommandsFlags, commandsMode } from "./options/option-values.ts";
import { placeHere, type WorkspaceFlags } from "./options/resolve-workspace.ts";

export interface PolicyFlags extends CommandsFlags, WorkspaceFlags {
  /** Home assumed for `~` and the user's rules. */
  readonly home?: string;
  /** Intent that is assumed to be selected. */
  readonly intent?: string;
  /** A file of a policy that is tried beside those in force. */
  readonly policy?: string;
  readonly json?: boolean;
}

export interface PolicyCheckFlags extends PolicyFlags {
  readonly read?: string;
  readonly write?: string;
  readonly jsonl?: boolean;
  /** Really run the command, on a stage of which nothing is kept. */
  readonly run?: boolean;
  /** With `run`: the `HOST:PORT`s that the command may reach. */
  readonly allow?: readonly string[];
}

/**
 * `gennai policy check`: the verdict of all rules on one call, or on one per line; with `--run`, on what a command really does.
 * Exit code 3 if anything would ask or be refused.
 */
export async function policyCheckCommand(
  command: string | undefined,
  flags: PolicyCheckFlags,
  console: Console,
): Promise<Said | number> {
  const asked = [command, flags.read, flags.write].filter((each) => each !== undefined).length;
  const isWrong = flags.jsonl === true ? asked > 0 || flags.run === true : asked !== 1;
  if (flags.allow !== undefined && flags.run !== true) throw usageError("--allow goes with --run.");
  if (isWrong || (flags.run === true && command === undefined)) {
    throw usageError(
      "Name one thing to check: a command, --read or --write.",
      'gennai policy check "rm -rf src"',
      "gennai policy check --write src/a.ts",
      "gennai policy check --jsonl",
      'gennai policy check --run "npm test"',
    );
  }
  await using workbench = await openWorkbench(flags, console);
  warnOfProblems(workbench, console);
  if (flags.jsonl === true) {
    await writeLines(answerLines(workbench, console.input), console.output);
    return exitCode.ok;
  }
  const paint = paintFor(console.output, console.environment);
  if (flags.run === true && command !== undefined) {
    const network = allowedAhead(flags.allow);
    const tried = await workbench.try(command, { network });
    const isKept = tried.report.verdict === "allow" && tried.trial?.verdict === "allow";
    return said(tried, `${describeTried(tried, workbench, paint)}\n`, isKept ? exitCode.ok : exitCode.refused);
  }
  const report = await (flags.read !== undefined
    ? workbench.decide("Read", { file_path: flags.read })
    : flags.write !== undefined
      ? workbench.decide("Write", { file_path: flags.write })
      : workbench.decide("Bash", { command }));
  const code = report.verdict === "allow" ? exitCode.ok : exitCode.refused;
  return said(report, `${describeReport(report, workbench, paint)}\n`, code);
}

/** `gennai policy test`: runs the examples in rule files. Exit code 1 if an example fails or a file has errors. */
export async function policyTestCommand(flags: PolicyFlags, console: Console): Promise<Said> {
  await using workbench = await openWorkbench(flags, console);
  const files = await workbench.rules.examples();
  const failed = files.some(({ problems }) => problems.some(({ severity }) => severity === "error"));
  const paint = paintFor(console.output, console.environment);
  const lines = files.flatMap(({ file, rules, checked, problems }) => {
    const bad = problems.some(({ severity }) => severity === "error");
    const mark = bad ? paint("red", "failed") : paint("green", "ok");
    return [
      `${mark}  ${terminalSafe(file)}  ${plural(rules, "rule")}, ${plural(checked, "example")}`,
      ...problems.map((problem) => `    ${problem.severity}: ${terminalSafe(describeRuleProblem(problem))}`),
    ];
  });
  const text = [...lines, terminalSafe(workbench.status.text), ""].join("\n");
  return said({ ok: !failed, files }, text, failed ? exitCode.failed : exitCode.ok);
}

/** `gennai policy replay`: judges the calls in the workspace's ledger by the present rules and shows what would differ. */
export async function policyReplayCommand(flags: PolicyFlags, console: Console): Promise<Said> {
  await using workbench = await openWorkbench(flags, console);
  warnOfProblems(workbench, console);
  const paint = paintFor(console.output, console.environment);
  let calls = 0;
  let differing = 0;
  let unjudged = 0;
  for await (const call of workbench.replay()) {
    calls += 1;
    if (call.needsIntent) unjudged += 1;
    if (!call.differs) continue;
    differing += 1;
    console.output.write(flags.json === true ? `${jsonLine(call)}\n` : `${describeReplayed(call, paint)}\n`);
  }
  const summary = { calls, differing, unjudged };
  const intents = unjudged === 0 ? "" : `; ${unjudged} decided by intents, not judged: name one with --intent ID`;
  const many = differing === 0 ? "none" : differing;
  return said(summary, `${plural(calls, "call")}, ${many} would be judged differently today${intents}\n`);
}

async function openWorkbench(flags: PolicyFlags, console: Console): Promise<PolicyWorkbench> {
  const { environment } = console;
  const { workspaceRoot: workspace, stateDir } = await placeHere(flags, console);
  const common = {
    workspace,
    stateDir,
    commands: commandsMode(flags),
    environment,
    limits: await limitsWith(flags.policy, console),
    ...(flags.intent === undefined ? {} : { intent: flags.intent }),
  };
  if (flags.home !== undefined) {
    return PolicyWorkbench.open({ ...common, home: resolve(console.directory, flags.home) });
  }
  const configDir = environment["XDG_CONFIG_HOME"];
  return PolicyWorkbench.open({
    ...common,
    home: environment["HOME"] ?? homedir(),
    ...(configDir === undefined || !configDir.startsWith("/") ? {} : { configDir }),
  });
}

function warnOfProblems(workbench: PolicyWorkbench, console: Console): void {
  for (const problem of workbench.status.problems) console.errors.write(`rules: ${terminalSafe(problem)}\n`);
}

async function* answerLines(
  workbench: PolicyWorkbench,
  input: Console["input"],
): AsyncGenerator<string, void, undefined> {
  for await (const answer of workbench.decideLines(chunksOf(input))) yield `${jsonLine(answer)}\n`;
}

async function* chunksOf(input: Console["input"]): AsyncGenerator<Uint8Array | string, void, undefined> {
  for await (const chunk of input) {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) yield chunk;
  }
}

function describeReplayed({ seq, tool, input, past, today }: ReplayedCall, paint: Paint): string {
  const change = `${paint(outcomeColours[past.verdict], past.verdict)} -> ${paint(outcomeColours[today.outcome], today.outcome)}`;
  const why = today.reason === "" ? past.rule : `${today.rule}  ${today.reason}`;
  return `${change}  #${seq}  ${terminalSafe(`${tool} ${input.slice(0, 200)}`)}\n    ${terminalSafe(why)}`;
}

type Rules = Pick<PolicyWorkbench, "status" | "unstaged" | "intentsIgnored">;

/** The verdict of all rules on one call, for users. */
function describeReport(report: WorkbenchReport, workbench: Rules, paint: Paint): string {
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
function describeTried(
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
