import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { IntentSummary } from "@gennai/client/governance/intents";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { usageWords } from "@gennai/client/session/usage-meter";
import type { TurnReport } from "@gennai/client/view/turn-report";
import { addSessionWorktree } from "@gennai/git/session-worktree";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { ExpectedError } from "@gennai/machine/expected-error";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { openDiskWorkspace } from "@gennai/shell/open-disk-workspace";
import type { Pipeline } from "../../ci/pipeline.ts";
import { branchTitle } from "../../client/agent-branch.ts";
import { namedPaths } from "../../client/item-lines.ts";
import { exitCodeOf, runTurn } from "../../client/run-turn.ts";
import { intentOf, intentTitle } from "../../client/session-intent.ts";
import { UserTerminal } from "../../client/user-terminal.ts";
import { holdsFiles } from "../../connection/holds-files.ts";
import { loadAhead, turnServer } from "../../connection/server-choice.ts";
import { allowedAhead } from "../../review/persons-network-here.ts";
import { type ReviewResult, reviewProposals } from "../../review/review-proposal.ts";
import { usageError } from "../../terminal/cli-error.ts";
import { colouredDiff } from "../../terminal/colours.ts";
import { type Console, isTerminal } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import { commandsMode } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { AnswerSchema } from "./answer-schema.ts";
import { planRunCommand } from "./plan-mode.ts";
import { promptImages } from "./prompt-images.ts";
import { RequestBranch } from "./request-branch.ts";
import { type RunFlags, sessionSettings } from "./run-options.ts";
import { isNewSession, sessionToResume } from "./session-to-resume.ts";
import { workingTreeDiff } from "./working-tree-diff.ts";

/** `gennai run REQUEST`: one turn. */
export async function runCommand(
  request: string,
  flags: RunFlags,
  console: Console,
  pipeline?: Pipeline,
): Promise<ExitCode> {
  if (flags.mode === "plan") {
    if (flags.worktree === true) throw usageError("--worktree is not for plans.", "Run the plan without it.");
    if (flags.image !== undefined) throw usageError("--image is not for plans.", "Run the plan without it.");
    if (flags.outputSchema !== undefined || flags.output !== undefined)
      throw usageError("A plan gives no answer for --output-schema or -o.", "Run the plan without them.");
    const { mode: _, ...others } = flags;
    return planRunCommand(request, sessionSettings(others), flags, console);
  }
  const settings = sessionSettings(flags);
  const commands = commandsMode(flags);
  if (holdsFiles(flags) && commands === "staged") {
    throw usageError(
      "Commands cannot be staged, because the server does not hold the files.",
      "Leave out --commands staged, or run a server here.",
    );
  }
  const images = await promptImages(flags.image ?? [], console);
  const { allow = [] } = allowedAhead(flags.allow);
  const workspace = await workspaceOf(request, flags, console);
  const stateDir = defaultStateDir(console.environment);
  const ending = new AbortController();
  // A closed terminal stops what runs, as Ctrl-C does. Under nohup the input is no terminal.
  using interrupts = new Interrupts(undefined, { hangUp: isTerminal(console.input) });
  const held = holdsFiles(flags)
    ? await openDiskWorkspace({ root: workspace, stateDir, environment: console.environment })
    : undefined;
  // The output of a pipeline is its log.
  const answerAlone = flags.json !== true && pipeline === undefined && !isTerminal(console.output);
  using terminal = new UserTerminal({
    console,
    interrupts,
    workspace,
    stateDir,
    held,
    yes: flags.yes === true,
    ask: flags.ask === true,
    json: flags.json === true,
    answerAlone,
    ...(pipeline === undefined ? {} : { pipeline }),
    allow,
  });
  const { signal } = ending;
  const schema =
    flags.outputSchema === undefined
      ? undefined
      : await AnswerSchema.read(resolve(console.directory, flags.outputSchema));
  const branches = new RequestBranch({ workspace, flags, isHeld: held !== undefined, asks: terminal.policy === "ask" });
  const { input } = terminal;
  // Before a server starts: without a repository nothing can run. A resumed session has its own mode, and an intent that cannot
  // be selected leaves everything as it is.
  const isNew = isNewSession(flags);
  const isEarly = isNew && flags.intent === undefined && !branches.offersFirst;
  const [early] = await Promise.all([
    isEarly ? branches.prepare(request, settings.editingMode) : undefined,
    // Modules are loaded while git works.
    loadAhead({ server: flags.server, stateDir }),
  ]);

  await using server = await turnServer(
    flags,
    { workspace, stateDir, signal, model: settings, commands, isHeld: held !== undefined },
    console,
  );
  const resume = await sessionToResume(flags, server, workspace, signal);
  const session = await terminal.openSession(server, {
    settings: { ...settings, ...(isNew && held === undefined ? { workingDir: workspace } : {}) },
    ...(resume === undefined ? {} : { resume }),
    signal,
  });
  if (session.workingDir !== workspace && resume !== undefined) {
    throw usageError(
      `Session ${resume} belongs to ${session.workingDir}.`,
      `Run it there: --workspace ${session.workingDir}`,
    );
  }
  const place = { governance: server.governance, sessionId: session.sessionId, signal };
  const intent = await intentOf(flags.intent, isNew, place);
  const asked = input && { session, place: { input, write: (words: string) => terminal.write(words), signal } };
  const branch = early ?? (await branches.prepare(request, session.settings.editingMode, asked));
  const opening = [
    ...(branch === undefined ? [] : [branchTitle(branch)]),
    ...(intent === undefined ? [] : [`intent ${intentTitle(intent)}`]),
  ];
  if (opening.length > 0) terminal.view.note(opening.join(" · "));
  if (flags.json === true) {
    const onBranch = readGitHead(workspace);
    terminal.writeJson({
      type: "session",
      format: jsonFormat,
      session: {
        sessionId: session.sessionId,
        workspace,
        ...(onBranch.type === "branch" ? { branch: onBranch.branch } : {}),
        model: session.settings.model,
        version,
      },
    });
  }
  const turn = {
    text: schema?.asked(request) ?? request,
    branchTask: request,
    images,
    scenario: flags.scenario ?? "",
    enableThinking: flags.thinking !== false,
  };
  const shown = { view: terminal.view, interrupts, signal };
  let report = await runTurn(session, turn, shown);
  let problem: string | undefined;
  if (schema !== undefined && report.outcome === "completed") {
    let read = schema.read(report.text);
    if ("problem" in read) {
      report = joined(
        report,
        await runTurn(session, { ...turn, text: schema.askedAgain(read.problem), images: [] }, shown),
      );
      read = schema.read(report.text);
    }
    if ("problem" in read) ({ problem } = read);
    else report = { ...report, text: read.json };
  }
  let code = exitCodeOf(report, interrupts.interrupted);
  if (problem !== undefined) {
    console.errors.write(`The answer does not fit ${flags.outputSchema ?? ""}: ${terminalSafe(problem)}\n`);
    code = exitCode.failed;
  }
  const write = (text: string) => terminal.write(text);
  const { paint } = terminal;
  const review = () =>
    reviewProposals(report.proposals, flags, {
      session,
      signal,
      input,
      paint,
      write,
      environment: console.environment,
    });
  // The server reads through this command what was written.
  const isAttached = held !== undefined && report.proposals.length > 0;
  const reviewed = await (isAttached ? session.whileAttached(review, { signal }) : review());
  if (code === exitCode.ok && reviewed.some(({ undecided }) => undecided)) code = exitCode.refused;
  if (pipeline !== undefined) code = pipeline.ended(report, code);
  const inBranchMode = session.settings.editingMode === "branch";
  if (flags.json !== true && inBranchMode && report.changedFiles.length > 0) {
    const diff = await workingTreeDiff(workspace, report.changedFiles, { signal });
    if (diff !== "") terminal.write(`\n${colouredDiff(diff, terminal.paint)}\n\n`);
  }
  const head = readGitHead(workspace);
  const endsOn = inBranchMode && head.type === "branch" ? head.branch : undefined;
  if (flags.output !== undefined) await writeFile(resolve(console.directory, flags.output), `${report.text}\n`);
  if (answerAlone) terminal.writeAnswer(report.text);
  finish({ terminal, session, report, reviewed, branch: endsOn, intent, code, json: flags.json === true });
  return code;
}

/** Of the lines of `--json`: another number where readers of this one would misread them. */
const jsonFormat = 1;

/** What two turns came to, whose last answer counts. */
function joined(first: TurnReport, last: TurnReport): TurnReport {
  return {
    ...last,
    changedFiles: [...new Set([...first.changedFiles, ...last.changedFiles])],
    commandsChangedFiles: first.commandsChangedFiles || last.commandsChangedFiles,
    proposals: [...first.proposals, ...last.proposals],
    refused: [...new Set([...first.refused, ...last.refused])],
  };
}

/** The directory in which the session works: a working tree of its own if the user asked for one. */
async function workspaceOf(request: string, flags: RunFlags, console: Console): Promise<string> {
  const directory = await resolveWorkspace(flags.workspace, console);
  if (flags.worktree !== true) return directory;
  if (!isNewSession(flags) || flags.mode === "proposal") {
    throw usageError(
      "--worktree needs a new session that writes.",
      "To go on in a working tree, run there: gennai sessions worktrees lists them.",
    );
  }
  const { signal } = new AbortController();
  const { branch } = flags;
  try {
    const made = await addSessionWorktree({
      directory,
      task: request,
      signal,
      ...(branch === undefined ? {} : { branch }),
    });
    console.errors.write(`Working tree ${terminalSafe(made.path)}\n`);
    return made.path;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    throw usageError(error.message, error.hint ?? "Run it without --worktree.");
  }
}

function finish(facts: {
  readonly terminal: UserTerminal;
  readonly session: AgentSession;
  readonly report: TurnReport;
  readonly reviewed: readonly ReviewResult[];
  readonly branch: string | undefined;
  readonly intent: IntentSummary | undefined;
  readonly code: ExitCode;
  readonly json: boolean;
}): void {
  const { terminal, session, report, reviewed, branch, intent, code } = facts;
  if (facts.json) {
    const { turnId, outcome, text, changedFiles, refused, usage } = report;
    terminal.writeJson({
      type: "result",
      result: {
        sessionId: session.sessionId,
        turnId,
        outcome,
        text,
        refused,
        exitCode: code,
        usage,
        changedFiles: [...changedFiles, ...reviewed.flatMap(({ files }) => files)],
        proposals: reviewed,
        ...(branch === undefined ? {} : { branch }),
        ...(intent === undefined ? {} : { intent: intent.id }),
      },
    });
    return;
  }
  if (report.changedFiles.length > 0) terminal.view.note(`Changed: ${namedPaths(report.changedFiles)}`);
  if (report.refused.length > 0) terminal.view.note(`Refused: ${report.refused.join(", ")}`);
  const used = usageWords(report.usage);
  if (used !== "") terminal.view.note(used);
  const changed = report.changedFiles.length > 0 || reviewed.some(({ files }) => files.length > 0);
  const undo = report.commandsChangedFiles ? "gennai undo --list" : "gennai undo";
  if (report.cutOff !== undefined) {
    terminal.view.note(`Go on with: gennai --resume ${session.sessionId}, then /again`);
  }
  terminal.view.note(`Session ${session.sessionId}${changed ? ` · undo the changes with: ${undo}` : ""}`);
}
