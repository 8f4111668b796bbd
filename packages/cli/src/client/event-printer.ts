import { answerWords } from "@gennai/client/view/answer-words";
import type { NoticeItem } from "@gennai/client/view/items/view-item";
import { isNews } from "@gennai/client/view/notice";
import type { SessionView } from "@gennai/client/view/session-view";
import {
  type InvokeEvent,
  InvokeState,
  TodoStatus,
  type ToolResult,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import {
  type GateDecision,
  PlanStepState,
  VerificationState,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { riskFromMessage } from "@gennai/protocol/model/governance/risk";
import { verdictFromMessage } from "@gennai/protocol/model/governance/tool-outcome";
import { colouredLine, type Paint } from "../terminal/colours.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { toolCallLine, toolErrorMessage } from "./tool-call-line.ts";

/** Lines of a result that are shown; the session has all lines. */
const shownLines = 6;
/** The same for a diff, of which readers want to see more. */
const shownDiffLines = 60;

/** Its result is not printed: it is JSON for the model, and a person sees the proposal as diffs after the turn. */
const proposingTool = "ProposeChanges";

/** Prints a session's events for a person, as they come. */
export class EventPrinter {
  readonly #write: (text: string) => void;
  readonly #asTyped: (text: string) => string;
  readonly #paint: Paint;
  readonly #width: number;
  readonly #clientId: string;
  /** Keys of the calls whose lines were printed. */
  readonly #calls = new Set<string>();
  #atLineStart = true;
  #streaming: "thinking" | "text" | "output" | undefined;
  #textShown = false;
  /** Id of the call whose line was printed last: its result needs no name. */
  #lastCall = "";

  constructor(options: {
    readonly write: (text: string) => void;
    /** Replaces commands in the server's own words by what the user would type. */
    readonly asTyped: (text: string) => string;
    readonly paint: Paint;
    readonly width: number;
    /** Of this terminal. */
    readonly clientId: string;
  }) {
    this.#write = options.write;
    this.#asTyped = options.asTyped;
    this.#paint = options.paint;
    this.#width = options.width;
    this.#clientId = options.clientId;
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
        break;
      case "assistantDelta":
        this.#textShown = true;
        this.#stream("text", added);
        break;
      case "gateDecision":
        this.#printDecision(body.value, session);
        break;
      case "toolOutputDelta":
        this.#stream("output", added);
        break;
      case "toolResult":
        this.#printResult(body.value, session);
        break;
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
        break;
      case "clientRequestResolved": {
        const asked = session.request(body.value.requestId);
        // What was answered here needs no word.
        if (asked?.kind !== "confirmation" || asked.reply === undefined || asked.answeredBy === this.#clientId) break;
        this.line(this.#paint("dim", `  ${answerWords(asked, this.#clientId)}`));
        break;
      }
      case "todosChanged": {
        const done = body.value.items.filter((item) => item.status === TodoStatus.COMPLETED).length;
        this.line(this.#paint("dim", `  todos: ${done} of ${body.value.items.length} done`));
        break;
      }
      case "warning":
        this.line(this.#paint("yellow", `warning: ${this.#asTyped(terminalSafe(body.value))}`));
        this.#printHint(event);
        break;
      case "error":
        this.line(this.#paint("red", `error: ${this.#asTyped(terminalSafe(body.value))}`));
        this.#printHint(event);
        break;
      case "changeSetApplied":
      case "checkpointClosed":
        for (const file of body.value.files) {
          this.line(this.#paint("dim", `  changed: ${terminalSafe(file.path)}`));
        }
        break;
      case "planChanged": {
        const { stepId, stepState, text } = body.value;
        const broke = stepState === PlanStepState.FAILED || stepState === PlanStepState.SKIPPED;
        // The tool calls of a step show what it did.
        if (text === "" || (stepId !== "" && !broke)) break;
        const name = stepId === "" ? "plan" : terminalSafe(stepId);
        this.line(this.#paint(broke ? "red" : "dim", `  ${name}: ${indented(terminalSafe(text))}`));
        break;
      }
      default:
        this.#printNotice(session.noticeOf(event));
    }
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

  #printHint({ errorInfo }: InvokeEvent): void {
    const { hint = "" } = errorInfo ?? {};
    if (hint !== "") this.line(`  ${this.#asTyped(terminalSafe(hint))}`);
  }

  #printNotice(notice: NoticeItem | undefined): void {
    if (notice === undefined || (!isNews(notice) && notice.topic !== "context")) return;
    const { level, text, hint } = notice;
    const indent = notice.topic === "branch" ? "" : "  ";
    this.line(this.#paint(levelStyles[level], `${indent}${indented(this.#asTyped(terminalSafe(text)))}`));
    // A warning of its own says what was left out of the context.
    if (level !== "info" && notice.topic !== "context" && hint !== "") this.line(`  ${indented(terminalSafe(hint))}`);
  }

  #stream(kind: "thinking" | "text" | "output", raw: string): void {
    const text = terminalSafe(raw);
    if (text === "") return;
    if (this.#streaming !== kind) this.breakLine();
    this.#streaming = kind;
    this.#write(kind === "text" ? text : this.#paint("dim", text));
    this.#atLineStart = text.endsWith("\n");
  }

  #printDecision(decision: GateDecision, session: SessionView): void {
    const verdict = verdictFromMessage(decision.verdict);
    const call = session.call(decision.toolCallId);
    if (call !== undefined && this.#calls.has(call.key) && verdict === "allow") return;
    const text = toolCallLine(decision.toolName, call?.item.peek().argumentsJson ?? "", this.#width - 24);
    const word = this.#paint(verdictStyles[verdict], verdict);
    const risk = this.#paint("dim", `${riskFromMessage(decision.risk)} risk`);
    this.#lastCall = decision.toolCallId;
    this.line(`${this.#paint("cyan", markOf(call))} ${text}  ${word} ${risk}`);
    if (call !== undefined) this.#calls.add(call.key);
    if (verdict !== "allow" && decision.reason !== "") this.line(`  ${terminalSafe(decision.reason)}`);
  }

  #printResult(result: ToolResult, session: SessionView): void {
    const cell = session.call(result.id);
    const call = cell?.item.peek();
    const isShown = cell !== undefined && this.#calls.has(cell.key);
    if (call !== undefined && (!isShown || this.#lastCall !== result.id)) {
      // Calls that ran together: say whose result this is.
      const mark = this.#paint("cyan", isShown ? "└" : markOf(cell));
      this.line(`${mark} ${toolCallLine(call.name, call.argumentsJson, this.#width - 4)}`);
      this.#lastCall = result.id;
    }
    if (result.error !== "") {
      this.line(`  ${this.#paint("red", "failed")} ${indented(terminalSafe(toolErrorMessage(result.error)))}`);
    } else if ((call?.liveOutput ?? "") === "" && call?.name !== proposingTool) {
      this.#printOutput(result.output);
    }
    const facts = [
      result.exitCode === undefined ? "" : `exit code ${result.exitCode}`,
      result.verification === VerificationState.FAILED ? "verification failed" : "",
    ].filter((fact) => fact !== "");
    if (facts.length > 0) this.line(this.#paint("dim", `  ${facts.join(", ")}`));
  }

  #printOutput(output: string): void {
    // How far a tab goes depends on where it stands: so lines could not be cut to the width.
    const lines = output.replace(/\n$/, "").replaceAll("\t", "  ").split("\n");
    if (output.trim() === "") return;
    const isDiff = lines.some((line) => line.startsWith("@@ "));
    const shown = lines.slice(0, isDiff ? shownDiffLines : shownLines);
    for (const line of shown) {
      const cut = line.length > this.#width - 4 ? `${line.slice(0, this.#width - 5)}…` : line;
      this.line(`  ${isDiff ? colouredLine(cut, this.#paint) : this.#paint("dim", terminalSafe(cut))}`);
    }
    const more = lines.length - shown.length;
    if (more > 0) this.line(this.#paint("dim", `  … ${more} more ${more === 1 ? "line" : "lines"}`));
  }
}

const levelStyles = { info: "dim", warning: "yellow", error: "red" } as const;
const verdictStyles = { allow: "green", ask: "yellow", deny: "red" } as const;

function markOf(call: ReturnType<SessionView["call"]>): string {
  return call !== undefined && call.parentCallId !== "" ? "  ↳" : "●";
}

function indented(text: string): string {
  return text.replace(/\n/g, "\n  ");
}
