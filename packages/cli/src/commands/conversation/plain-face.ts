import type { WayToServer } from "@gennai/client/agent/followed-session";
import type { CommandView } from "@gennai/client/commands/command";
import type { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import pLimit from "p-limit";
import { EventPrinter } from "../../client/event-printer.ts";
import type { AskedPerson } from "../../client/headless-editor.ts";
import { personInLines } from "../../client/person-in-lines.ts";
import { type Paint, paintFor } from "../../terminal/colours.ts";
import { asTyped, type Console } from "../../terminal/console.ts";
import { LineInput } from "../../terminal/line-input.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import type { Conversation } from "./conversation.ts";
import type { Face } from "./face.ts";

/** A conversation in lines that are printed once, without drawing: for a terminal that cannot be drawn on, a pipe, a screen reader. */
export class PlainFace implements Face, Disposable {
  readonly paint: Paint;
  readonly views: ReadonlySet<CommandView> = new Set(["plan"]);
  readonly input: LineInput;
  readonly person: AskedPerson;
  readonly #console: Console;
  readonly #printer: EventPrinter;
  readonly #leaving = new AbortController();
  #conversation: Conversation | undefined;
  #view: SessionView | undefined;
  #replay = 0n;

  constructor(console: Console, clientId: string, onInterrupt: () => void) {
    this.#console = console;
    this.paint = paintFor(console.output, console.environment);
    this.input = new LineInput(console, onInterrupt);
    this.#printer = new EventPrinter({
      write: (text) => console.output.write(text),
      asTyped: (text) => asTyped(text, console.environment),
      paint: this.paint,
      clientId,
      tellsEnd: true,
    });
    this.person = personInLines({
      input: this.input,
      inOrder: pLimit(1),
      paint: this.paint,
      write: (text) => void console.errors.write(text),
      breakLine: () => this.#printer.breakLine(),
    });
  }

  write(text: string): void {
    this.#printer.breakLine();
    this.#console.output.write(text);
  }

  note(text: string): void {
    this.#printer.line(this.paint("dim", asTyped(text, this.#console.environment)));
  }

  opened(view: SessionView, replay: bigint): void {
    this.#view = view;
    this.#replay = replay;
  }

  shown(event: InvokeEvent, added: string): void {
    if (this.#view !== undefined && event.seq > this.#replay) this.#printer.print(event, added, this.#view);
  }

  putBack(text: string): void {
    this.note(`The model was not told: ${terminalSafe(text)}`);
  }

  way(change: WayToServer): void {
    if (change.state === "reconnecting" && change.attempt === 1) this.note("The connection broke; trying again …");
    if (change.state === "gone") this.note("The server cannot be reached.");
  }

  changed(): void {
    if (this.#conversation?.leaves === true) this.#leaving.abort();
  }

  async show({ view }: { readonly view: CommandView }): Promise<void> {
    throw new Error(`The plain conversation has no view ${view}.`);
  }

  /** Reads requests until the person leaves. */
  async converse(conversation: Conversation, signal: AbortSignal): Promise<void> {
    this.#conversation = conversation;
    const leaving = AbortSignal.any([signal, this.#leaving.signal]);
    while (!conversation.leaves) {
      const line = await this.input.line("› ", { signal: leaving });
      if (line === undefined) return;
      if (line.trim() === "") continue;
      await conversation.submit(line);
      await conversation.idle();
    }
  }

  [Symbol.dispose](): void {
    this.input[Symbol.dispose]();
  }
}
