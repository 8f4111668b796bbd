import { type IntentSummary, listIntents } from "@gennai/client/governance/intents";
import type { AgentSession, CutOffTurn } from "@gennai/client/session/agent-session";
import type { TurnRequest } from "@gennai/client/session/turn";
import { TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { runTurn, type TurnReport } from "../../client/run-turn.ts";
import { activeIntent, chooseIntent, describeSessionIntents, intentTitle } from "../../client/session-intent.ts";
import type { UserTerminal } from "../../client/user-terminal.ts";
import type { ChosenServer } from "../../connection/server-choice.ts";
import { describeSessions } from "../../connection/session-list.ts";
import { asCliError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
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

const help = `Type what shall be done, or:
  /again           go on with a turn that was cut off: what it asked is asked again
  /undo            take back the newest change set
  /compact         shorten what the model is told about the conversation
  /todos           show the agent's list
  /mode [NAME]     show or set the mode: branch, proposal or plan
  /scenario [NAME] list the scenarios, or choose one for the next turns
  /intents         list what the agent may work on
  /intent [ID]     show or select the intent to work under
  /sessions        list the sessions of this workspace
  /help            this text
  /exit            leave (so does Ctrl-D, and Ctrl-C at the prompt)
`;

/** Runs turn after turn, until the user leaves. A failed turn is reported and does not end the loop. */
export async function promptLoop(options: PromptOptions): Promise<ExitCode> {
  const { terminal, interrupts, session } = options;
  const state = { scenario: options.scenario, mode: session.settings.editingMode, planning: false };
  let cutOff = session.cutOffTurn;
  const intent = options.intent === undefined ? "" : `, intent ${intentTitle(options.intent)}`;
  terminal.write(
    `Session ${session.sessionId} in ${session.workingDir}, ${state.mode} mode${intent}. /help shows what can be typed.\n`,
  );
  if (cutOff !== undefined) terminal.view.note(cutOffNote(cutOff));
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
    if (line === undefined || line.trim() === "/exit" || line.trim() === "/quit") return exitCode.ok;
    if (line.trim() === "") continue;
    try {
      const runOne = async (turn: TurnRequest): Promise<void> => {
        const report = await runTurn(session, turn, { view: terminal.view, interrupts, signal: options.signal });
        cutOff = report.cutOff;
        if (cutOff !== undefined) terminal.view.note(cutOffNote(cutOff));
        await options.afterTurn(report);
      };
      if (line.trim() === "/again") {
        if (cutOff === undefined) terminal.write("No turn was cut off here. Say what shall be done.\n");
        else await runOne({ text: "", continues: cutOff.turnId, branchTask: "continued" });
      } else if (line.trim().startsWith("/")) await runWord(line.trim(), state, options);
      else if (state.planning) {
        await options.prepare(line, "plan");
        await planAtPrompt(line, session, options);
      } else {
        await options.prepare(line, state.mode);
        await runOne({ text: line, branchTask: line, scenario: state.scenario, enableThinking: options.thinking });
      }
    } catch (error) {
      const { message, next } = asCliError(error);
      terminal.write(`${terminal.paint("red", terminalSafe(message))}\n${next.map((step) => `  ${step}\n`).join("")}`);
    }
    if (interrupts.ends) return exitCode.interrupted;
    interrupts.forget();
  }
}

function cutOffNote({ message, waited }: CutOffTurn): string {
  return `${terminalSafe(message)}\n${waited ? "/again asks again" : "/again goes on with it"}; anything else begins a new turn.`;
}

async function runWord(
  line: string,
  state: { scenario: string; mode: EditingMode; planning: boolean },
  options: PromptOptions,
): Promise<void> {
  const { terminal, session, signal } = options;
  const [word, argument] = line.split(/\s+/, 2);
  switch (word) {
    case "/help":
      terminal.write(help);
      return;
    case "/undo":
      terminal.write(describeUndone(await session.undo({ signal })));
      return;
    case "/compact": {
      const done = await session.client.compactSession({ sessionId: session.sessionId }, { signal });
      terminal.write(
        done.compacted
          ? `About ${done.tokensBefore} tokens before, ${done.tokensAfter} now; the last ${done.keptMessages} messages stay as they are.\n`
          : "There is nothing to shorten yet.\n",
      );
      return;
    }
    case "/todos": {
      const { items } = await session.client.getTodos({ sessionId: session.sessionId }, { signal });
      const marks: Partial<Record<TodoStatus, string>> = { [TodoStatus.COMPLETED]: "✓", [TodoStatus.IN_PROGRESS]: "…" };
      terminal.write(
        items.length === 0
          ? "No todos.\n"
          : items.map((item) => `${marks[item.status] ?? "○"} ${terminalSafe(item.content)}\n`).join(""),
      );
      return;
    }
    case "/mode":
      if (argument === "branch" || argument === "proposal") {
        await session.changeSettings({ editingMode: argument }, { signal });
        state.mode = argument;
        state.planning = false;
      } else if (argument === "plan") {
        // An approved plan acts as in branch mode.
        await session.changeSettings({ editingMode: "branch" }, { signal });
        state.mode = "branch";
        state.planning = true;
      } else if (argument !== undefined) terminal.write("There are three modes: branch, proposal and plan.\n");
      terminal.write(`${state.planning ? "plan" : state.mode} mode\n`);
      return;
    case "/scenario":
      if (argument === undefined) {
        const { scenarios } = await session.client.listScenarios({ sessionId: session.sessionId }, { signal });
        terminal.write(
          scenarios
            .map(({ name, description }) => `${terminalSafe(name).padEnd(16)} ${terminalSafe(description)}\n`)
            .join(""),
        );
      } else {
        state.scenario = argument;
        terminal.write(`Scenario ${terminalSafe(argument)}\n`);
      }
      return;
    case "/intents": {
      const intents = await listIntents(options.server.governance, session.sessionId, { signal });
      if (intents.intents.length === 0) terminal.view.note("No intents here. gennai intents init makes a first one.");
      terminal.write(describeSessionIntents(intents, terminal.paint));
      return;
    }
    case "/intent": {
      const place = { governance: options.server.governance, sessionId: session.sessionId, signal };
      const intent = argument === undefined ? await activeIntent(place) : await chooseIntent(argument, place);
      terminal.write(
        intent === undefined ? "No intent is selected; /intents lists them.\n" : `Intent ${intentTitle(intent)}\n`,
      );
      return;
    }
    case "/sessions":
      terminal.write(await describeSessions(session.client, session.workingDir, { signal }));
      return;
    default:
      terminal.write(`There is no ${word}. /help shows what can be typed.\n`);
  }
}
