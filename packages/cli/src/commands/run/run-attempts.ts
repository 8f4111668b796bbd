import { Readable } from "node:stream";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { defaultStateDir, prepareStateDirectory } from "@gennai/machine/config/state-directory";
import type { SettingsChoice } from "@gennai/protocol/model/session-settings";
import type { Attempt } from "@gennai/sessions/attempts/attempt";
import { AttemptBudget } from "@gennai/sessions/attempts/attempt-budget";
import { bestFirst, isUsable } from "@gennai/sessions/attempts/best-first";
import { KeptAttempts, type OpenAttempts } from "@gennai/sessions/attempts/kept-attempts";
import { measureAttempt } from "@gennai/sessions/attempts/measure-attempt";
import { makeWorkingCopies, type WorkingCopies } from "@gennai/sessions/attempts/working-copies";
import { findCheck } from "@gennai/sessions/context/detect-check";
import type { PersonsNetwork } from "@gennai/sessions/policy-workbench/persons-network";
import pLimit from "p-limit";
import { describeAttempts } from "../../attempts/describe-attempts.ts";
import { LinePrefix } from "../../attempts/line-prefix.ts";
import { offerAttempt } from "../../attempts/offer-attempt.ts";
import { SharedPerson } from "../../attempts/shared-person.ts";
import { prepareAgentBranch } from "../../client/agent-branch.ts";
import { AgentDesk } from "../../client/agent-desk.ts";
import { runTurn } from "../../client/run-turn.ts";
import { type ChosenServer, chooseServer, serverRequest } from "../../connection/server-choice.ts";
import { usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-code.ts";
import type { OfferPlace } from "../../review/offered-changes.ts";
import { allowedAhead } from "../../review/persons-network-here.ts";
import { openStagingWorkbench } from "../../review/staging-workbench.ts";
import { type Console, commandName, isTerminal } from "../../terminal/console.ts";
import type { Interrupts } from "../../terminal/interrupts.ts";
import { jsonLine, terminalSafe } from "../../terminal/terminal-safe.ts";
import { untilEnded } from "../../terminal/until-ended.ts";
import { parseCount } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { type RunFlags, sessionSettings } from "./run-options.ts";

const maxAttempts = 8;
/** At once, where nobody says otherwise. */
const usuallyParallel = 2;
/** Milliseconds a check may take. */
const checkMs = 600_000;
/** Characters of what a check printed. */
const maxCheckOutput = 8_000;

/** `gennai run --attempts N`: one request, several times, each on a copy of its own; the best of them is offered. */
export function runAttempts(request: string | undefined, flags: RunFlags, console: Console): Promise<number> {
  const left = "Ended; nothing of the attempts is left, the workspace is as before.";
  return untilEnded(console, left, (place) => attempted(request, flags, { console, ...place }));
}

/** What all attempts of one request share. */
interface Setting {
  /** The user's, of which the attempts have copies. */
  readonly workspace: string;
  readonly request: string;
  readonly flags: RunFlags;
  readonly settings: SettingsChoice;
  readonly check: string;
  readonly budget: AttemptBudget;
  readonly copies: WorkingCopies;
  readonly open: OpenAttempts;
  readonly server: ChosenServer;
  readonly stateDir: string;
  readonly place: AttemptPlace;
  /** What all of them print to, and whom they ask. */
  readonly person: SharedPerson;
  readonly hasPerson: boolean;
  /** What commands may reach without a question. */
  readonly allow: PersonsNetwork["allow"];
}

type AttemptPlace = OfferPlace & { readonly interrupts: Interrupts };

async function attempted(request: string | undefined, flags: RunFlags, place: AttemptPlace): Promise<number> {
  const { console, signal } = place;
  if (request === undefined || request.trim() === "")
    throw usageError("--attempts needs a request.", 'For example: gennai run --attempts 3 "fix the failing test"');
  refuseOthers(flags);
  const { allow } = allowedAhead(flags.allow);
  const count = parseCount(flags.attempts, "--attempts", maxAttempts) ?? 1;
  if (count < 2) throw usageError("--attempts takes a whole number from 2 to 8.", "Once is: gennai run, without it.");
  const parallel = parseCount(flags.parallel, "--parallel", maxAttempts) ?? usuallyParallel;
  const settings = sessionSettings(flags);
  const workspace = await resolveWorkspace(flags.workspace, console);
  const check = await decidingCheck(workspace, flags);
  const stateDir = await prepareStateDirectory(defaultStateDir(console.environment));
  const kept = new KeptAttempts(stateDir);
  await kept.recover(Date.now());
  const open = kept.open(workspace);
  try {
    const copies = await makeWorkingCopies(workspace, open.place, { count, signal });
    // Fails here, before a model is asked, where nothing can be staged.
    await (await openStagingWorkbench(copies.base, console))[Symbol.asyncDispose]();
    signal.throwIfAborted();
    await using server = await chooseServer(
      {
        ...serverRequest({ server: "own" }, { workspace: copies.base, stateDir, signal }),
        model: settings,
        protectedBranches: flags.protect ?? [],
        sandbox: "required",
        stages: "required",
        answersOf: workspace,
      },
      console,
    );
    const budget = new AttemptBudget(settings, count);
    const { input, output, errors } = console;
    const setting: Setting = {
      workspace,
      request,
      flags,
      settings,
      check,
      budget,
      copies,
      open,
      server,
      stateDir,
      place,
      person: new SharedPerson(flags.json === true ? errors : output, () => place.lines()),
      hasPerson: flags.ask === true || (isTerminal(input) && isTerminal(errors)),
      allow,
    };
    const limit = pLimit(Math.min(parallel, count));
    const all = copies.directories.map((directory, index) => limit(() => attemptIn(directory, index + 1, setting)));
    // Ended, all of them come to their end before their copies are removed.
    await Promise.allSettled(all);
    signal.throwIfAborted();
    const made = await Promise.all(all);
    open.finish({
      version: 1,
      id: open.id,
      workspace,
      prompt: request,
      at: Date.now(),
      check,
      attempts: [...bestFirst(made)],
    });
  } finally {
    await kept.close(open);
  }
  return offerBest({ kept, id: open.id, workspace }, flags, place);
}

function refuseOthers(flags: RunFlags): void {
  const { session, worktree, branch, localFiles, intent, image, server, mode } = flags;
  const options = { session, worktree, branch, intent, image, "local-files": localFiles };
  const [other] = Object.entries(options).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (other !== undefined) throw usageError(`--${other} is not for attempts.`, "Leave one of them out.");
  if (mode === "plan") throw usageError("A plan is not tried.", "Leave --mode plan or --attempts out.");
  if (server !== "auto" && server !== "own")
    throw usageError("Attempts run on a server of this command.", "Leave --server out.");
}

async function decidingCheck(workspace: string, flags: RunFlags): Promise<string> {
  if (flags.check !== undefined && flags.check.trim() !== "") return flags.check;
  const { check } = await loadProjectConfig(workspace);
  const found = await findCheck(workspace, check);
  if (found !== undefined) return found.command;
  throw usageError(
    "No check is known that could decide between attempts.",
    "Name one: --check 'npm test', or `check` in .gennai/config.yaml.",
  );
}

async function attemptIn(directory: string, number: number, setting: Setting): Promise<Attempt> {
  const { budget, place } = setting;
  place.signal.throwIfAborted();
  const share = budget.begin();
  const failed = (text: string): Attempt => {
    return { ...nothingMade, number, outcome: "failed", text: text.slice(0, 2_000) };
  };
  if (share === undefined) return failed("Nothing of the budget is left for it.");
  try {
    const turn = await turnIn(directory, number, { ...setting, settings: { ...setting.settings, ...share.limits } });
    share.ended(turn);
    place.signal.throwIfAborted();
    return { ...nothingMade, number, ...(await judged(directory, turn.attempt, setting)) };
  } catch (error) {
    place.signal.throwIfAborted();
    return failed(error instanceof Error ? error.message : String(error));
  }
}

const nothingMade: Omit<Attempt, "number"> = {
  sessionId: "",
  outcome: "failed",
  check: "not_run",
  checkOutput: "",
  text: "",
  addedLines: 0,
  removedLines: 0,
  tokens: 0,
  changes: [],
};

type Turn = Pick<Attempt, "sessionId" | "outcome" | "text" | "tokens">;

async function turnIn(
  directory: string,
  number: number,
  { request, flags, settings, server, stateDir, place, person, hasPerson, allow }: Setting,
): Promise<{ readonly attempt: Turn; readonly tokens: number; readonly cost: number }> {
  const { console, interrupts, signal } = place;
  await prepareAgentBranch({ workspace: directory, request, protect: flags.protect ?? [], signal });
  const output = new LinePrefix(person.output, `${number} │ `);
  const apart: Console = { ...console, input: Readable.from([]), output, errors: output };
  using desk = new AgentDesk({
    console: apart,
    interrupts,
    workspace: directory,
    stateDir,
    yes: flags.yes === true,
    ask: false,
    json: false,
    promptsForRequests: false,
    allow: allow ?? [],
    person: hasPerson ? person : undefined,
  });
  const model = flags.attemptModel?.[number - 1];
  const session = await desk.openSession(server, {
    settings: { ...settings, ...(model === undefined ? {} : { model }), editingMode: "branch", workingDir: directory },
    signal,
  });
  const turn = { text: request, scenario: flags.scenario ?? "", enableThinking: flags.thinking !== false };
  const listen = (stop: (name: NodeJS.Signals) => void): Disposable => {
    const told = (): void => stop("SIGINT");
    signal.addEventListener("abort", told, { once: true });
    if (signal.aborted) told();
    return { [Symbol.dispose]: () => signal.removeEventListener("abort", told) };
  };
  // The turn is cancelled and comes to its end; only then is its copy removed.
  const toItsEnd = new AbortController().signal;
  const report = await runTurn(session, turn, { view: desk.view, interrupts: { listen }, signal: toItsEnd });
  output.end();
  const { outcome, text, usage } = report;
  const tokens = usage.inputTokens + usage.outputTokens;
  const attempt = { sessionId: session.sessionId, outcome, text: text.slice(0, 8_000), tokens };
  return { attempt, tokens, cost: usage.cost ?? 0 };
}

/** What it changed, and what the check says of that. */
async function judged(
  directory: string,
  turn: Turn,
  { copies, open, check, workspace, allow, place: { console, signal } }: Setting,
): Promise<Omit<Attempt, "number">> {
  const { base, state } = copies;
  const made = { ...nothingMade, ...turn, ...(await measureAttempt(directory, { base, state, open, signal })) };
  if (!isUsable({ ...made, number: 0 })) return made;
  await using workbench = await openStagingWorkbench(directory, console);
  const { trial } = await workbench.try(check, {
    evenIfRefused: true,
    timeoutMs: checkMs,
    signal,
    network: { answersOf: workspace, ...(allow === undefined ? {} : { allow }) },
  });
  const passed = trial?.state === "exited" && trial.exitCode === 0;
  return { ...made, check: passed ? "passed" : "failed", checkOutput: trial?.output.slice(-maxCheckOutput) ?? "" };
}

async function offerBest(
  { kept, id, workspace }: { readonly kept: KeptAttempts; readonly id: string; readonly workspace: string },
  flags: RunFlags,
  place: OfferPlace,
): Promise<number> {
  const { console } = place;
  const of = kept.list(workspace).find((one) => one.id === id);
  const best = of?.attempts[0];
  if (of === undefined || best === undefined) throw new Error("The attempts are gone.");
  const json = flags.json === true;
  const name = commandName(console.environment);
  if (!json) console.output.write(`\n${describeAttempts(of)}\n`);
  const usable = isUsable(best);
  const wishes = { keep: flags.yes === true, ask: flags.ask === true, include: [] };
  const offered = usable ? await offerAttempt({ of, attempt: best, kept, wishes, json }, place) : undefined;
  if (json) {
    const taken = offered?.kept.map((change) => change.name) ?? [];
    console.output.write(`${jsonLine({ result: { ...of, best: usable ? best.number : undefined, kept: taken } })}\n`);
  } else if (usable) {
    console.output.write(`Look at the others: ${name} attempts show N, and ${name} attempts take N\n`);
  } else console.output.write(`No attempt changed anything that can be kept: ${terminalSafe(best.text)}\n`);
  if (!usable) return exitCode.failed;
  return offered?.unasked === true ? exitCode.refused : exitCode.ok;
}
