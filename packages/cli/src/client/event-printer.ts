import { callArguments } from "@gennai/client/view/call-subject";
import type { ItemCell } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import { type InvokeEvent, InvokeState, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { PlanStepState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { Paint } from "../terminal/colours.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { runningCallLine } from "./call-lines.ts";
import { itemLines, type LineContext, undoneLine } from "./item-lines.ts";
import { isSettled } from "./settled.ts";

export interface EventPrinterOptions extends Omit<LineContext, "foldsOutput"> {
  readonly write: (text: string) => void;
  /** Whether the end of a turn is told, with what it changed. */
  readonly tellsEnd?: boolean;
}

/** Prints a session's events for a person, as they come: what is written in pieces at once, all else when it can change no more. */
export class EventPrinter {
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  readonly #context: LineContext;
  readonly #tellsEnd: boolean;
  /** Cells that were not printed yet, in order. */
  #open: ItemCell[] = [];
  #seen = 0;
  /** Keys of the calls that were told before they ended. */
  readonly #begun = new Set<string>();
  #atLineStart = true;
  #streaming: "thinking" | "text" | "output" | undefined;
  #textShown = false;

  constructor({ write, tellsEnd = false, ...context }: EventPrinterOptions) {
    this.#write = write;
    this.#tellsEnd = tellsEnd;
    this.#paint = context.paint;
    this.#context = { ...context, foldsOutput: false };
  }

  /**
   * @param added what the event adds to a text that is streamed
   * @param session after the event
   */
  print(event: InvokeEvent, added: string, session: SessionView): void {
    const body = event.event;
    switch (body.case) {
      case "thinkingDelta":
        this.#stream("thinking", added);
        return;
      case "assistantDelta":
        this.#textShown = true;
        this.#stream("text", added);
        return;
      case "toolOutputDelta":
        this.#begin(session.call(body.value.id));
        this.#stream("output", added);
        return;
      case "final":
        // Text that was streamed is not printed twice.
        if (!this.#textShown) this.#stream("text", body.value.text);
        this.breakLine();
        break;
      case "userMessage":
        this.#textShown = false;
        // Another client sent it while the turn ran.
        if (body.value.messageId !== "")
          this.line(this.#paint("dim", `  told meanwhile: ${terminalSafe(body.value.text)}`));
        break;
      case "status":
        if (body.value.state === InvokeState.WAITING_FOR_CLIENT)
          this.line(this.#paint("yellow", "Waiting for somebody who can answer."));
        // A command may take long, and says nothing itself.
        if (body.value.state === InvokeState.RUN_TOOL) this.#beginCommand(session.call(body.value.toolCallId));
        break;
      case "changeSetUndone": {
        const line = undoneLine(body.value.files);
        if (line !== "") this.line(this.#paint("dim", line));
        break;
      }
      case "todosChanged": {
        const done = body.value.items.filter((item) => item.status === TodoStatus.COMPLETED).length;
        this.line(this.#paint("dim", `  todos: ${done} of ${body.value.items.length} done`));
        break;
      }
      case "planChanged": {
        const { stepId, stepState, text } = body.value;
        const broke = stepState === PlanStepState.FAILED || stepState === PlanStepState.SKIPPED;
        // The tool calls of a step show what it did.
        if (text === "" || (stepId !== "" && !broke)) break;
        const name = stepId === "" ? "plan" : terminalSafe(stepId);
        this.line(this.#paint(broke ? "red" : "dim", `  ${name}: ${terminalSafe(text).replace(/\n/g, "\n  ")}`));
        break;
      }
      default:
    }
    this.#printSettled(session);
  }

  /** Prints a line of its own. */
  line(text: string): void {
    this.breakLine();
    this.#write(`${text}\n`);
  }

  /** Ends the line that is being streamed. */
  breakLine(): void {
    if (!this.#atLineStart) this.#write("\n");
    this.#atLineStart = true;
    this.#streaming = undefined;
  }

  #printSettled(session: SessionView): void {
    this.#open.push(...session.cells.slice(this.#seen));
    this.#seen = session.cells.length;
    this.#open = this.#open.filter((cell) => {
      if (!isSettled(cell.item.peek())) return true;
      if (this.#isTold(cell)) for (const text of itemLines(cell, this.#context)) this.line(text);
      return false;
    });
  }

  /** False for what stands there already, and for what is told after the turn. */
  #isTold({ item }: ItemCell): boolean {
    const { kind, ...facts } = item.peek();
    if (kind === "confirmation") return !("answeredBy" in facts) || facts.answeredBy !== this.#context.clientId;
    return kind === "turn-end" ? this.#tellsEnd : kind !== "user-message" && kind !== "proposal";
  }

  #beginCommand(cell: ReturnType<SessionView["call"]>): void {
    if (typeof callArguments(cell?.item.peek().argumentsJson ?? "")["command"] === "string") this.#begin(cell);
  }

  /** Says which call prints what comes now. */
  #begin(cell: ReturnType<SessionView["call"]>): void {
    if (cell === undefined || this.#begun.has(cell.key)) return;
    this.#begun.add(cell.key);
    this.line(runningCallLine(cell.item.peek(), cell.parentCallId, this.#paint).trimEnd());
  }

  #stream(kind: "thinking" | "text" | "output", raw: string): void {
    const text = terminalSafe(raw);
    if (text === "") return;
    if (this.#streaming !== kind) this.breakLine();
    this.#streaming = kind;
    this.#write(kind === "text" ? text : this.#paint("dim", text));
    this.#atLineStart = text.endsWith("\n");
  }
}
