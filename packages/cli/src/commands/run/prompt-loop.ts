import { userInfo } from "node:os";
import type { CommandPlace, CommandResult } from "@gennai/client/commands/command";
import { slashCommands, typedCommand } from "@gennai/client/commands/slash-commands";
import type { IntentSummary } from "@gennai/client/governance/intents";
import type { AgentSession, CutOffTurn } from "@gennai/client/session/agent-session";
import type { TurnRequest } from "@gennai/client/session/turn";
import type { TurnReport } from "@gennai/client/view/turn-report";
import type { EditingMode, ReportedSettings } from "@gennai/protocol/model/session/session-settings";
import { runTurn } from "../../client/run-turn.ts";
import { intentTitle } from "../../client/session-intent.ts";
import type { UserTerminal } from "../../client/user-terminal.ts";
import type { ChosenServer } from "../../connection/server-choice.ts";
import { describeSessions } from "../../connection/session-list.ts";
import { asCliError } from "../../terminal/cli-error.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import type { Interrupts } from "../../terminal/interrupts.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { describeUndone } from "../sessions/undo-text.ts";
import { mentionCandidates } from "./mention-candidates.ts";
import { planAtPrompt } from "./plan-mode.ts";

export interface PromptOptions {
  readonly session: AgentSession;
  readonly terminal: UserTerminal;
  readonly interrupts: Interrupts;
  readonly server: ChosenServer;
  readonly signal: AbortSignal;
  readonly scenario: string;
  readonly thinking: boolean;
  /** The session's intent at the beginning. */
  readonly intent: IntentSummary | undefined;
  /** Sees to the branch for a request, as far as no server can do it when something is written. */
  readonly prepare: (request: string, mode: EditingMode | "plan") => Promise<unknown>;
  /** Reviews what the turn proposed. */
  readonly afterTurn: (report: TurnReport) => Promise<unknown>;
}

interface PromptState {
  scenario: string;
  settings: ReportedSettings;
  planning: boolean;
  cutOff: CutOffTurn | undefined;
  leaves: boolean;
}

/** Runs turn after turn, until the user leaves. A failed turn is reported and does not end the loop. */
export async function promptLoop(options: PromptOptions): Promise<ExitCode> {
  const { terminal, interrupts, session } = options;
  const state: PromptState = {
    scenario: options.scenario,
    settings: session.settings,
    planning: false,
    cutOff: session.cutOffTurn,
    leaves: false,
  };
  const intent = options.intent === undefined ? "" : `, intent ${intentTitle(options.intent)}`;
  terminal.write(
    `Session ${session.sessionId} in ${session.workingDir}, ${state.settings.editingMode} mode${intent}. /help shows what can be typed.\n`,
  );
  if (state.cutOff !== undefined) terminal.view.note(cutOffNote(state.cutOff));
  if (terminal.requests !== undefined)
    terminal.requests.complete = (text) => mentionCandidates(text, session, options.signal);
  for (;;) {
    const leaving = new AbortController();
    let line: string | undefined;
    {
      using _listening = interrupts.listen(() => leaving.abort());
      line = await terminal.requests?.line("› ", { signal: AbortSignal.any([leaving.signal, options.signal]) });
    }
    interrupts.forget();
    if (line === undefined) return exitCode.ok;
    if (line.trim() === "") continue;
    try {
      const typed = typedCommand(line);
      if (typed !== undefined) await carryOut(await commanded(typed, state, options), state, options);
      else if (state.planning) await plan(line, options);
      else await runRequest(line, state.scenario, state, options);
    } catch (error) {
      const { message, next } = asCliError(error);
      terminal.write(`${terminal.paint("red", terminalSafe(message))}\n${next.map((step) => `  ${step}\n`).join("")}`);
    }
    if (state.leaves) return exitCode.ok;
    if (interrupts.ends) return exitCode.interrupted;
    interrupts.forget();
  }
}

function cutOffNote({ message, waited }: CutOffTurn): string {
  return `${terminalSafe(message)}\n${waited ? "/again asks again" : "/again goes on with it"}; anything else begins a new turn.`;
}

async function runRequest(text: string, scenario: string, state: PromptState, options: PromptOptions): Promise<void> {
  await options.prepare(text, state.settings.editingMode);
  await runOne({ text, branchTask: text, scenario, enableThinking: options.thinking }, state, options);
}

async function runOne(turn: TurnRequest, state: PromptState, options: PromptOptions): Promise<void> {
  const { terminal, interrupts, session, signal } = options;
  const report = await runTurn(session, turn, { view: terminal.view, interrupts, signal });
  state.cutOff = report.cutOff;
  if (state.cutOff !== undefined) terminal.view.note(cutOffNote(state.cutOff));
  await options.afterTurn(report);
}

async function plan(goal: string, options: PromptOptions): Promise<void> {
  await options.prepare(goal, "plan");
  await planAtPrompt(goal, options.session, options);
}

async function commanded(
  { name, text }: { readonly name: string; readonly text: string },
  state: PromptState,
  options: PromptOptions,
): Promise<CommandResult> {
  const place = await placeOf(state, options);
  const wanted = name === "exit" ? "quit" : name;
  const command = slashCommands(place).find((each) => each.name === wanted);
  if (command === undefined) return { type: "said", text: `There is no /${name}. /help shows what can be typed.` };
  return command.run(place, text);
}

async function carryOut(result: CommandResult, state: PromptState, options: PromptOptions): Promise<void> {
  const say = (text: string) => options.terminal.write(text === "" ? "" : `${terminalSafe(text.trimEnd())}\n`);
  switch (result.type) {
    case "said":
      return say(result.text);
    case "prompt":
      if (!state.planning) return runRequest(result.text, result.scenario || state.scenario, state, options);
      if (result.scenario !== "") return say("Plan mode has a way of its own. Choose another mode first.");
      return plan(result.text, options);
    case "continue":
      return runOne({ text: "", continues: result.turnId, branchTask: "continued" }, state, options);
    case "show":
      return show(result, state, options);
  }
}

async function show(
  { view, text }: Extract<CommandResult, { readonly type: "show" }>,
  state: PromptState,
  options: PromptOptions,
): Promise<void> {
  const { session, terminal, signal } = options;
  switch (view) {
    case "plan":
      if (text !== "") return plan(text, options);
      // An approved plan acts as in branch mode.
      state.settings = await session.changeSettings({ editingMode: "branch" }, { signal });
      state.planning = true;
      return terminal.write("Plan mode from now on: what you type is planned, and runs after your yes.\n");
    case "sessions":
      terminal.write(await describeSessions(session.client, session.workingDir, { signal }));
      return terminal.view.note("Go on with one: gennai run --session ID");
    default:
      throw new Error(`A terminal shows no ${view}.`);
  }
}

async function placeOf(state: PromptState, { session, server, signal }: PromptOptions): Promise<CommandPlace> {
  const { sessionId, workingDir, client } = session;
  const { scenarios, skills } = await client.listScenarios({ sessionId }, { signal });
  return {
    session: { sessionId, workingDir, client, settings: state.settings },
    governance: server.governance,
    userName: userInfo().username,
    views: new Set(["plan", "sessions"]),
    mode: state.planning ? "Plan" : state.settings.editingMode === "proposal" ? "Proposal" : "Branch",
    scenarios,
    skills,
    signal,
    cutOffTurn: async () => state.cutOff,
    undo: async () => describeUndone(await session.undo({ signal })),
    changeSettings: async (choice) => {
      state.settings = await session.changeSettings(choice, { signal });
      if (choice.editingMode !== undefined) state.planning = false;
      return true;
    },
    useScenario: (name) => {
      state.scenario = name;
    },
    quit: () => {
      state.leaves = true;
    },
  };
}
