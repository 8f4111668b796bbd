import { visibleWidth } from "@earendil-works/pi-tui";
import { wrapped } from "../../../screen/terminal-line.ts";

/** What a key came to, at a question. */
export type PanelAnswer<Reply> =
  /** The key means nothing here. */
  | { readonly type: "none" }
  | { readonly type: "changed" }
  | { readonly type: "reply"; readonly reply: Reply }
  /** Is printed, and the question stays. */
  | { readonly type: "print"; readonly text: string }
  /** A line is typed first. */
  | { readonly type: "line"; readonly mark: string; readonly read: (text: string) => Reply }
  /** One of these is chosen first. */
  | {
      readonly type: "pick";
      readonly items: readonly { readonly value: string; readonly label: string; readonly reply: Reply }[];
    };

/** A question in the place of the prompt. */
export interface Panel<Reply> {
  /** In a few words, without secrets, for where others may look. */
  readonly subject: string;
  /** What is asked. @param width columns of a line at most, as below */
  lines(width: number): readonly string[];
  /** The keys; undefined: a line is typed. */
  choices(width: number): readonly string[] | undefined;
  /** @param key a character */
  key(key: string): PanelAnswer<Reply>;
  /** A line that was typed; undefined: it is none yet, and `lines` say why. */
  readonly line?: { readonly mark: string; read(text: string): Reply | undefined };
}

/** Lines behind a mark that shows how far the question goes. */
export function edged(lines: readonly string[], edge: string, width: number): readonly string[] {
  return lines.flatMap((line) => wrapped(line, width - 2)).map((line) => `${edge} ${line}`);
}

/** Words in lines, none of them broken. */
export function inLines(words: readonly string[], gap: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const joined = last === undefined ? word : `${last}${gap}${word}`;
    if (last === undefined || visibleWidth(joined) <= width) lines.splice(-1, 1, joined);
    else lines.push(word);
  }
  return lines;
}
