import { matchesKey, SelectList } from "@earendil-works/pi-tui";
import type { AgentClient, CallOptions } from "@gennai/client/connection/connection";
import { listForPerson, minute, sessionWords } from "@gennai/client/session/session-list";
import type { Frame } from "../../../screen/inline-screen.ts";
import type { Paint } from "../../../terminal/colours.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";
import { listTheme } from "./prompt-editor.ts";

export interface PickerItem {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

/** A list of which one is chosen; what is typed narrows it. */
export class Picker {
  readonly #title: string;
  readonly #items: readonly PickerItem[];
  readonly #paint: Paint;
  readonly #done: (value: string | undefined) => void;
  #filter = "";
  #list: SelectList;

  /** @param done called once, with undefined if the person leaves */
  constructor(title: string, items: readonly PickerItem[], paint: Paint, done: (value: string | undefined) => void) {
    this.#title = title;
    this.#items = items.map(({ value, label, description = "" }) => ({
      value,
      label: oneLine(label),
      description: oneLine(description),
    }));
    this.#paint = paint;
    this.#done = done;
    this.#list = this.#matching();
  }

  frame(width: number): Frame {
    const head = `${this.#paint("bold", this.#title)} ${this.#filter}`;
    const hint = this.#paint("dim", "↑ ↓ · type to narrow · Enter · Esc");
    return {
      lines: [head, ...(this.#list.getSelectedItem() === null ? ["  Nothing fits."] : this.#list.render(width)), hint],
      cursor: { row: 0, column: this.#title.length + 1 + this.#filter.length },
    };
  }

  handle(data: string): void {
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) return this.#done(undefined);
    if (matchesKey(data, "enter")) return this.#done(this.#list.getSelectedItem()?.value);
    if (matchesKey(data, "backspace")) this.#narrow(this.#filter.slice(0, -1));
    else if (/^[\u0020-\u007e\u00a0-\uffff]+$/.test(data)) this.#narrow(this.#filter + data);
    else this.#list.handleInput(data);
  }

  #narrow(filter: string): void {
    this.#filter = filter;
    this.#list = this.#matching();
  }

  #matching(): SelectList {
    const words = this.#filter.toLowerCase().split(" ");
    const items = this.#items.filter((item) => {
      const text = `${item.label} ${item.description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return new SelectList(
      items.map((item) => ({ ...item })),
      10,
      listTheme(this.#paint),
      { maxPrimaryColumnWidth: 60 },
    );
  }
}

function oneLine(text: string): string {
  return terminalSafe(text).replace(/\s+/g, " ").trim();
}

/** The sessions for a person who chooses one; what waits for an answer comes first. @param here the folder */
export async function sessionItems(client: AgentClient, here: string, options: CallOptions): Promise<PickerItem[]> {
  return (await listForPerson(client, here, { elsewhere: true, ...options })).map((session) => ({
    value: session.sessionId,
    label: session.title || session.sessionId,
    description: [sessionWords(session, here), minute(session.updated)].filter((word) => word !== "").join(" · "),
  }));
}
