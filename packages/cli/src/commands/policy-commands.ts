import { homedir } from "node:os";
import { resolve } from "node:path";
import { describeRuleProblem } from "@gennai/governance/rules/compile/rule-set";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { plural } from "@gennai/protocol/plural";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { ReplayedCall } from "@gennai/sessions/policy-workbench/workbench-report";
import { allowedAhead } from "../review/persons-network-here.ts";
import { usageError } from "../terminal/cli-error.ts";
import { outcomeColours, type Paint, paintFor } from "../terminal/colours.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { writeLines } from "../terminal/write-lines.ts";
import { describeReport, describeTried } from "./describe-report.ts";
import { limitsWith } from "./limits-here.ts";
import { type CommandsFlags, commandsMode } from "./options/option-values.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";

export interface PolicyFlags extends CommandsFlags {
  readonly workspace?: string;
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
): Promise<number> {
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
    console.output.write(
      flags.json === true ? `${JSON.stringify(tried)}\n` : `${describeTried(tried, workbench, paint)}\n`,
    );
    const isKept = tried.report.verdict === "allow" && tried.trial?.verdict === "allow";
    return isKept ? exitCode.ok : exitCode.refused;
  }
  const report = await (flags.read !== undefined
    ? workbench.decide("Read", { file_path: flags.read })
    : flags.write !== undefined
      ? workbench.decide("Write", { file_path: flags.write })
      : workbench.decide("Bash", { command }));
  console.output.write(
    flags.json === true ? `${JSON.stringify(report)}\n` : `${describeReport(report, workbench, paint)}\n`,
  );
  return report.verdict === "allow" ? exitCode.ok : exitCode.refused;
}

/** `gennai policy test`: runs the examples in rule files. Exit code 1 if an example fails or a file has errors. */
export async function policyTestCommand(flags: PolicyFlags, console: Console): Promise<number> {
  await using workbench = await openWorkbench(flags, console);
  const files = await workbench.rules.examples();
  const failed = files.some(({ problems }) => problems.some(({ severity }) => severity === "error"));
  if (flags.json === true) console.output.write(`${JSON.stringify({ ok: !failed, files })}\n`);
  else {
    const paint = paintFor(console.output, console.environment);
    for (const { file, rules, checked, problems } of files) {
      const bad = problems.some(({ severity }) => severity === "error");
      const mark = bad ? paint("red", "failed") : paint("green", "ok");
      console.output.write(`${mark}  ${terminalSafe(file)}  ${plural(rules, "rule")}, ${plural(checked, "example")}\n`);
      for (const problem of problems) {
        console.output.write(`    ${problem.severity}: ${terminalSafe(describeRuleProblem(problem))}\n`);
      }
    }
    console.output.write(`${terminalSafe(workbench.status.text)}\n`);
  }
  return failed ? exitCode.failed : exitCode.ok;
}

/** `gennai policy replay`: judges the calls in the workspace's ledger by the present rules and shows what would differ. */
export async function policyReplayCommand(flags: PolicyFlags, console: Console): Promise<number> {
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
    console.output.write(flags.json === true ? `${JSON.stringify(call)}\n` : `${describeReplayed(call, paint)}\n`);
  }
  const summary = { calls, differing, unjudged };
  const intents = unjudged === 0 ? "" : `; ${unjudged} decided by intents, not judged: name one with --intent ID`;
  console.output.write(
    flags.json === true
      ? `${JSON.stringify(summary)}\n`
      : `${plural(calls, "call")}, ${differing === 0 ? "none" : differing} would be judged differently today${intents}\n`,
  );
  return exitCode.ok;
}

async function openWorkbench(flags: PolicyFlags, console: Console): Promise<PolicyWorkbench> {
  const { environment } = console;
  const common = {
    workspace: await resolveWorkspace(flags.workspace, console),
    stateDir: defaultStateDir(environment),
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
  for await (const answer of workbench.decideLines(chunksOf(input))) yield `${JSON.stringify(answer)}\n`;
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
