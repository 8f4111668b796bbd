import { matchesKey } from "@earendil-works/pi-tui";
import type { FullView } from "../../../screen/full-screen.ts";
import { wrapped } from "../../../screen/terminal-line.ts";
import type { Paint } from "../../../terminal/colours.ts";

/** What a key does at a text. */
export interface TextKey {
  readonly key: string;
  readonly words: string;
}

/** A text that is read on the whole terminal, with keys that decide about it. */
export class TextView implements FullView {
  readonly #text: () => string;
  readonly #keys: readonly TextKey[];
  readonly #paint: Paint;
  readonly #done: (key: string | undefined) => void;
  #top = 0;
  #room = 1;
  #length = 0;

  /** @param text safe for a terminal @param done called once, with the key, or undefined if the person leaves */
  constructor(text: () => string, keys: readonly TextKey[], paint: Paint, done: (key: string | undefined) => void) {
    this.#text = text;
    this.#keys = keys;
    this.#paint = paint;
    this.#done = done;
  }

  rows({ columns, rows }: { readonly columns: number; readonly rows: number }): readonly string[] {
    const lines = this.#text()
      .trimEnd()
      .split("\n")
      .flatMap((line) => wrapped(line, columns - 1));
    this.#room = Math.max(1, rows - 2);
    this.#length = lines.length;
    this.#top = Math.max(0, Math.min(this.#top, lines.length - this.#room));
    const shown = lines.slice(this.#top, this.#top + this.#room);
    const more = lines.length > this.#room ? [{ key: "j k", words: "down, up" }] : [];
    const keys = [...this.#keys, ...more, { key: "q", words: "leave" }].map(
      ({ key, words }) => `${this.#paint(["bold", "cyan"], key)} ${words}`,
    );
    return [...shown, ...Array.from({ length: this.#room - shown.length }, () => ""), "", keys.join("   ")];
  }

  handle(data: string): void {
    if (data === "j" || matchesKey(data, "down")) this.#top++;
    else if (data === "k" || matchesKey(data, "up")) this.#top = Math.max(0, this.#top - 1);
    else if (data === " " || matchesKey(data, "pageDown")) this.#top += this.#room;
    else if (matchesKey(data, "pageUp")) this.#top = Math.max(0, this.#top - this.#room);
    else if (data === "q" || matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.#done(undefined);
    // What is decided about is seen to its end first.
    else if (this.#keys.some(({ key }) => key === data) && this.#top + this.#room >= this.#length) this.#done(data);
  }
}
