import { hiddenCharacters, hidesSomething } from "@gennai/protocol/hidden-characters";
import { type ComponentChildren, type HTMLAttributes, h } from "preact";

/** A piece of a text: one that can be shown as it is, or a hidden character. */
export type TextPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "hidden"; readonly label: string; readonly name: string };

const names: Readonly<Record<string, string>> = {
  "0": "null",
  "8": "backspace",
  d: "carriage return",
  "1b": "escape",
  ad: "soft hyphen",
  "200b": "zero-width space",
  "200c": "zero-width non-joiner",
  "200d": "zero-width joiner",
  "200e": "left-to-right mark",
  "200f": "right-to-left mark",
  "202a": "left-to-right embedding",
  "202b": "right-to-left embedding",
  "202c": "end of embedding",
  "202d": "left-to-right override",
  "202e": "right-to-left override",
  "2066": "left-to-right isolate",
  "2067": "right-to-left isolate",
  "2068": "first strong isolate",
  "2069": "end of isolate",
  feff: "byte-order mark",
};

/** The text in pieces; joined, with the hidden characters, they give the text again. */
export function textPieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const match of text.matchAll(hiddenCharacters)) {
    if (match.index > at) pieces.push({ type: "text", text: text.slice(at, match.index) });
    pieces.push(hiddenPiece(match[0]));
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ type: "text", text: text.slice(at) });
  return pieces;
}

interface VisibleTextProps extends Omit<HTMLAttributes, "in"> {
  readonly text: string;
  /** The element around it, which gets all other properties. */
  readonly in?: keyof HTMLElementTagNameMap;
}

/** Text with every character visible. Always left to right, in the order in which it runs. */
export function VisibleText({ text, in: around, ...rest }: VisibleTextProps) {
  const shown = <bdi dir="ltr">{hidesSomething(text) ? textPieces(text).map(shownPiece) : text}</bdi>;
  return around === undefined ? shown : h(around, rest, shown);
}

function shownPiece(piece: TextPiece, index: number): ComponentChildren {
  if (piece.type === "text") return piece.text;
  return (
    <span class="hidden-character" key={index} title={`Invisible character: ${piece.name}`}>
      {piece.label}
    </span>
  );
}

function hiddenPiece(character: string): TextPiece {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  const label = `U+${hex.toUpperCase().padStart(4, "0")}`;
  return { type: "hidden", label, name: names[hex] ?? label };
}
