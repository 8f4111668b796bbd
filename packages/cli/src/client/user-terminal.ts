import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { AgentSession } from "@gennai/client/session/agent-session";
import { eventJson } from "@gennai/client/session/text/event-json";
import { SessionView } from "@gennai/client/view/session-view";
import type { Endpoint } from "@gennai/governance/endpoint";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import pLimit, { type LimitFunction } from "p-limit";
import type { Pipeline } from "../ci/pipeline.ts";
import type { ChosenServer } from "../connection/server-choice.ts";
import { type Paint, paintFor } from "../terminal/colours.ts";
import { asTyped, type Console, isTerminal } from "../terminal/console.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import { LineInput } from "../terminal/line-input.ts";
import { jsonLine, terminalSafe } from "../terminal/terminal-safe.ts";
import { version } from "../terminal/version.ts";
import { answeredAhead } from "./allowed-ahead.ts";
import { type AnswerPolicy, answerByPolicy } from "./confirmation-answer.ts";
import { EventPrinter } from "./event-printer.ts";
import { headlessEditor } from "./headless-editor.ts";
import { personInLines } from "./person-in-lines.ts";
import type { TurnView } from "./run-turn.ts";

export interface UserTerminalOptions {
  readonly console: Console;
  readonly interrupts: Interrupts;
  readonly workspace: string;
  readonly stateDir: string;
  /** Set when the server cannot reach the files. */
  readonly held?: ClientWorkspacePort | undefined;
  readonly yes: boolean;
  readonly ask: boolean;
  readonly json: boolean;
  /** True to print the last answer alone to the output, by `writeAnswer`, and everything else to the errors. */
  readonly answerAlone?: boolean;
  /** Endpoints that commands may reach without a question. */
  readonly allow?: readonly Endpoint[];
  /** The person who is asked, in place of the console's input, if several terminals share one person. */
  readonly person?: Person | undefined;
  /** Set for a run without a person, whatever the input is: it answers in the person's place. */
  readonly pipeline?: Pick<Pipeline, "answer" | "watch">;
}

/** Who answers, one question at a time. */
export interface Person {
  readonly inOrder: LimitFunction;
  question: LineInput["question"];
}

/** The user's terminal: what is shown, who answers, and what the server may do here. */
export class UserTerminal implements Disposable {
  readonly paint: Paint;
  readonly view: TurnView;
  readonly printer: EventPrinter;
  /** undefined: nobody can be asked. */
  readonly input: LineInput | undefined;
  readonly editor: ReturnType<typeof headlessEditor>;
  readonly policy: AnswerPolicy;
  readonly #options: UserTerminalOptions;
  readonly #clientId = crypto.randomUUID();

  /** Text of the model that may be its answer. */
  #text = "";

  constructor(options: UserTerminalOptions) {
    this.#options = options;
    const { console, json, pipeline } = options;
    const target = this.#target;
    this.paint = paintFor(target, console.environment);
    this.printer = new EventPrinter({
      write: (text) => target.write(text),
      asTyped: (text) => asTyped(text, console.environment),
      paint: this.paint,
      clientId: this.#clientId,
    });
    const session = new SessionView();
    pipeline?.watch(session);
    this.view = {
      session,
      show: (event) => {
        const added = session.apply(event);
        if (json) this.writeJson(Object.assign({ type: event.event.case ?? "" }, eventJson(event)));
        else if (options.answerAlone !== true || !this.#isHeldBack(event, added)) {
          this.printer.print(event, added, session);
        }
      },
      note: (text) => this.printer.line(this.paint("dim", asTyped(text, console.environment))),
    };
    const isHere = pipeline === undefined && (options.ask || (isTerminal(console.errors) && isTerminal(console.input)));
    const input = isHere ? new LineInput(console, () => options.interrupts.interrupt()) : undefined;
    this.input = input;
    const inOrder = pLimit(1);
    const person = options.person ?? (input && { inOrder, question: (...asked) => input.question(...asked) });
    this.policy = options.yes ? "yes" : person === undefined ? "nobody" : "ask";
    this.editor = headlessEditor({
      workspace: options.workspace,
      stateDir: options.stateDir,
      held: options.held,
      // That of a pipeline has its secrets, and names files that control its later steps.
      environment: pipeline === undefined && this.policy !== "nobody" ? console.environment : undefined,
      answered: (question) => this.#answered(question),
      person:
        person &&
        personInLines({
          input: person,
          inOrder: person.inOrder,
          paint: this.paint,
          write: (text) => void console.errors.write(text),
          breakLine: () => this.printer.breakLine(),
        }),
    });
  }

  write(text: string): void {
    this.printer.breakLine();
    this.#target.write(text);
  }

  writeAnswer(text: string): void {
    this.#options.console.output.write(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  }

  writeJson(value: unknown): void {
    this.#options.console.output.write(`${jsonLine(value)}\n`);
  }

  /** How this terminal introduces itself to a server. */
  identity(): ClientIdentity {
    return { clientId: this.#clientId, name: "gennai-cli", version, editor: this.editor };
  }

  /** Opens a session of the server, with this terminal's editor. */
  async openSession(
    server: ChosenServer,
    options: { readonly resume?: string; readonly settings: SettingsChoice; readonly signal: AbortSignal },
  ): Promise<AgentSession> {
    const { allow = [], pipeline } = this.#options;
    const interactive = this.policy !== "nobody" || allow.length > 0 || pipeline !== undefined;
    return AgentSession.open(server.client, this.identity(), { resume: undefined, ...options, interactive });
  }

  [Symbol.dispose](): void {
    this.input?.[Symbol.dispose]();
  }

  get #target(): NodeJS.WritableStream {
    const { console, json, answerAlone = false } = this.#options;
    return json || answerAlone ? console.errors : console.output;
  }

  /** The model's text is its answer unless a call follows: then it is a word on the way. */
  #isHeldBack({ event }: InvokeEvent, added: string): boolean {
    switch (event.case) {
      case "assistantDelta":
        this.#text += added;
        return true;
      case "final":
        return true;
      case "toolCall":
        if (this.#text !== "") this.printer.line(terminalSafe(this.#text));
        this.#text = "";
        return false;
      default:
        return false;
    }
  }

  /** What the options decide about a question, and say. */
  #answered(question: ConfirmationQuestion): ConfirmationReply | undefined {
    const { allow = [], pipeline } = this.#options;
    const ahead = answeredAhead(question, allow);
    const decided = ahead ?? pipeline?.answer(question) ?? answerByPolicy(this.policy, question);
    if (decided === undefined) return undefined;
    const option = ahead !== undefined ? "--allow" : pipeline !== undefined ? "--ci-policy" : "--yes";
    this.view.note(`  ${decided.answer === "yes" ? `approved by ${option}` : `refused: ${decided.reason}`}`);
    return decided;
  }
}
