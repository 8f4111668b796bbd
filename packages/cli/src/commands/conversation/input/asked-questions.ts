import { isKeyRepeat, matchesKey } from "@earendil-works/pi-tui";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/session/user-question";
import type { AskedPerson } from "../../../client/headless-editor.ts";
import type { Frame } from "../../../screen/inline-screen.ts";
import type { Paint } from "../../../terminal/colours.ts";
import { ConfirmPanel } from "./confirm-panel.ts";
import { KeyArming } from "./key-arming.ts";
import { userQuestionPanel } from "./line-panels.ts";
import type { Panel, PanelAnswer } from "./panel.ts";
import { PromptEditor } from "./prompt-editor.ts";

/** Milliseconds in which nothing may follow a key that answers: a terminal that does not mark pastes sends more at once. */
const pasteGap = 50;

/** What questions need of the terminal on which they are shown. */
export interface QuestionPlace {
  readonly paint: Paint;
  readonly size: { readonly rows: number };
  refresh(): void;
  print(text: string): void;
  /** A key that was no answer after all, for the draft. */
  giveBack(data: string): void;
  pick(
    title: string,
    items: readonly { readonly value: string; readonly label: string }[],
  ): Promise<string | undefined>;
  /** A question waits. */
  waits(subject: string): void;
}

/** A question that is shown, whatever its answer is. */
interface Asked {
  readonly panel: Panel<unknown>;
  readonly answer: (reply: unknown) => void;
  arming: KeyArming | undefined;
}

/** The questions that wait, one shown at a time, and the keys that answer. */
export class AskedQuestions {
  readonly #place: QuestionPlace;
  readonly #queue: Asked[] = [];
  #lastKeyAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** A key that answers if nothing follows. */
  #held: { readonly data: string; readonly timer: NodeJS.Timeout } | undefined;
  /** The line that is typed for the shown question. */
  #line: { readonly editor: PromptEditor; readonly mark: string } | undefined;

  constructor(place: QuestionPlace) {
    this.#place = place;
  }

  get isOpen(): boolean {
    return this.#queue.length > 0;
  }

  /** What is asked now; undefined: nothing. */
  get subject(): string | undefined {
    return this.#queue[0]?.panel.subject;
  }

  /** Asks. Resolves with undefined when the signal aborts. */
  ask<Reply>(panel: Panel<Reply>, { signal }: { readonly signal: AbortSignal }): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      const leave = (): void => {
        signal.removeEventListener("abort", leave);
        this.#remove(asked);
        resolve(undefined);
      };
      const asked: Asked = {
        panel,
        arming: undefined,
        answer: (reply) => {
          signal.removeEventListener("abort", leave);
          this.#remove(asked);
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The panel itself gave it.
          resolve(reply as Reply);
        },
      };
      if (signal.aborted) return resolve(undefined);
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.push(asked);
      this.#place.waits(panel.subject);
      this.#place.refresh();
    });
  }

  /** What stands above the prompt. Shows it, so that from now on its time counts. */
  above(width: number): readonly string[] {
    const asked = this.#queue[0];
    if (asked === undefined) return [];
    asked.arming ??= new KeyArming(Date.now(), this.#lastKeyAt);
    const left = asked.arming.left(Date.now());
    if (left > 0) this.#refreshIn(left);
    const more = this.#queue.length - 1;
    return [
      ...asked.panel.lines(width),
      ...(more > 0 ? [this.#place.paint("dim", `┃ ${more} more waits behind it`)] : []),
    ];
  }

  /** What stands in the prompt's place; undefined: the prompt, while what is typed goes into the draft. */
  inPlace(width: number): Frame | undefined {
    const asked = this.#queue[0];
    if (asked === undefined || !this.#isArmed(asked)) return undefined;
    const line = this.#lineOf(asked);
    if (line !== undefined) return line.editor.frame(width, line.mark);
    const lines = asked.panel.choices(width) ?? [];
    return { lines, cursor: { row: Math.max(0, lines.length - 1), column: 0 } };
  }

  /** A key came for something that stands before the question. */
  typedElsewhere(): void {
    this.#lastKeyAt = Date.now();
    this.#queue[0]?.arming?.typed(this.#lastKeyAt);
  }

  /** @returns true if the key was for a question */
  handle(data: string): boolean {
    const now = Date.now();
    const asked = this.#queue[0];
    const isArmed = asked !== undefined && this.#isArmed(asked);
    this.#lastKeyAt = now;
    if (this.#held !== undefined) {
      clearTimeout(this.#held.timer);
      const { data: before } = this.#held;
      this.#held = undefined;
      asked?.arming?.typed(now);
      this.#place.giveBack(before);
      return false;
    }
    if (asked === undefined) return false;
    if (isArmed && this.#line !== undefined) return this.#typed(asked, data);
    const isKey = isArmed && [...data].length === 1 && data >= " " && !isKeyRepeat(data);
    const answer = isKey ? asked.panel.key(data) : undefined;
    if (answer === undefined || answer.type === "none") {
      asked.arming?.typed(now);
      // Enter never answers: the hidden draft is not sent by it either.
      return isArmed && matchesKey(data, "enter");
    }
    this.#held = { data, timer: setTimeout(() => this.#take(asked, answer), pasteGap) };
    return true;
  }

  #take(asked: Asked, answer: PanelAnswer<unknown>): void {
    this.#held = undefined;
    if (this.#queue[0] !== asked) return;
    switch (answer.type) {
      case "reply":
        return asked.answer(answer.reply);
      case "print":
        this.#place.print(answer.text);
        break;
      case "line":
        this.#line = { editor: this.#newEditor(asked, answer.read), mark: answer.mark };
        break;
      case "pick":
        void this.#place.pick("For which pattern?", answer.items).then((value) => {
          const chosen = answer.items.find((item) => item.value === value);
          if (chosen !== undefined && this.#queue.includes(asked)) asked.answer(chosen.reply);
        });
        break;
      case "none":
      case "changed":
        break;
    }
    this.#place.refresh();
  }

  /** The key belongs to the line that is typed as an answer; Esc leaves a reason, and the question stays. */
  #typed(asked: Asked, data: string): boolean {
    if (matchesKey(data, "ctrl+c") || (matchesKey(data, "escape") && asked.panel.line !== undefined)) return false;
    if (matchesKey(data, "escape")) this.#line = undefined;
    else this.#line?.editor.handleInput(data);
    this.#place.refresh();
    return true;
  }

  #lineOf(asked: Asked): { readonly editor: PromptEditor; readonly mark: string } | undefined {
    const { line } = asked.panel;
    if (line !== undefined) this.#line ??= { editor: this.#newEditor(asked, line.read), mark: line.mark };
    return this.#line;
  }

  #newEditor(asked: Asked, read: (text: string) => unknown): PromptEditor {
    const editor = new PromptEditor(this.#place.size, () => this.#place.refresh(), this.#place.paint);
    editor.onSubmit = (text) => {
      const reply = read(text);
      if (reply === undefined) editor.setText(text);
      else asked.answer(reply);
    };
    return editor;
  }

  /** While a line is typed for it, each key is for the question. */
  #isArmed(asked: Asked): boolean {
    return this.#line !== undefined || asked.arming?.left(Date.now()) === 0;
  }

  #remove(asked: Asked): void {
    const at = this.#queue.indexOf(asked);
    if (at < 0) return;
    this.#queue.splice(at, 1);
    if (at === 0) {
      this.#line = undefined;
      clearTimeout(this.#held?.timer);
      this.#held = undefined;
    }
    this.#place.refresh();
  }

  #refreshIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#place.refresh(), milliseconds + 1);
  }
}

/** A person who is asked where the prompt is; what they answer the model is printed. */
export function askedPerson(
  questions: AskedQuestions,
  { paint, print }: Pick<QuestionPlace, "paint" | "print">,
): AskedPerson {
  return {
    confirm: async (question, { signal }) =>
      (await questions.ask(new ConfirmPanel(question, paint), { signal })) ?? {
        answer: "nobody",
        reason: "The question was left without an answer.",
      },
    askUser: async (asked, { signal }) => {
      const answers = [];
      for (const question of asked) {
        const answer = await questions.ask(userQuestionPanel(question, paint), { signal });
        if (answer === undefined) return { end: "cancelled" };
        answers.push(answer);
        print(paint("dim", `  ${answeredLine(question, answer)}`));
      }
      return { end: "answered", answers };
    },
  };
}

function answeredLine({ header, question, options }: UserQuestion, { chosen, text }: UserAnswer): string {
  const words = text === "" ? chosen.flatMap((place) => options[place]?.label ?? []).join(", ") : text;
  return spelledOut(`${header || question} · ${words || "left to the model"}`).replace(/\s+/g, " ");
}
