/** Longest unfinished sequence that is buffered; a longer one counts as no sequence, and only its beginning is dropped. */
const maxSequence = 4096;

type State = "text" | "escape" | "intermediate" | "csi" | "string" | "string-escape" | "return";

/**
 * A program's text as meant for reading, without terminal control: colours, cursor moves, titles, links, the clipboard, the end
 * of a paste, backspaces. These reach neither a user's terminal nor a model. A lone carriage return, which would overwrite the
 * line, begins a new one, so that nothing is hidden. Works on pieces: a sequence may be cut anywhere.
 */
export class PlainText {
  #state: State = "text";
  #length = 0;

  push(piece: string): string {
    let out = "";
    for (const character of piece) out += this.#next(character, character.codePointAt(0) ?? 0);
    return out;
  }

  #next(character: string, code: number): string {
    switch (this.#state) {
      case "text":
        return this.#text(character, code);
      case "return": {
        this.#state = "text";
        return code === 0x0a ? "\n" : `\n${this.#text(character, code)}`;
      }
      case "escape":
        this.#state = afterEscape(code);
        this.#length = 0;
        return this.#state === "text" && code < 0x20 ? this.#text(character, code) : "";
      case "intermediate":
        if (code >= 0x30) this.#state = "text";
        return "";
      case "csi":
        return this.#sequence(character, code, code >= 0x40 && code <= 0x7e);
      case "string":
        if (code === 0x1b) this.#state = "string-escape";
        return this.#state === "string" ? this.#sequence(character, code, code === 0x07 || code === 0x9c) : "";
      case "string-escape":
        // `ESC \` ends the sequence; any other escape begins a new one.
        this.#state = "text";
        if (code === 0x5c) return "";
        this.#state = "escape";
        return this.#next(character, code);
    }
  }

  #text(character: string, code: number): string {
    if (code === 0x0d) {
      this.#state = "return";
      return "";
    }
    if (code === 0x1b) this.#state = "escape";
    else if (code === 0x9b) this.#begin("csi");
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) this.#begin("string");
    else if (code === 0x0a || code === 0x09) return character;
    else if (code >= 0x20 && !(code >= 0x7f && code <= 0x9f)) return character;
    return "";
  }

  #begin(state: "csi" | "string"): void {
    this.#state = state;
    this.#length = 0;
  }

  #sequence(character: string, code: number, ends: boolean): string {
    this.#length += 1;
    if (ends || this.#length > maxSequence) this.#state = "text";
    else if (this.#state === "csi" && (code < 0x20 || code > 0x7e)) {
      // The byte cannot belong to such a sequence, which is incomplete.
      this.#state = "text";
      return this.#text(character, code);
    }
    return "";
  }
}

/** Lines that a carriage return wrote anew, e.g. of a progress bar, as they were at the end. */
export function lastOfLines(text: string): string {
  if (!text.includes("\r")) return text;
  const last = text.split("\n").map((line) => {
    let end = line.length;
    while (line[end - 1] === "\r") end -= 1;
    return line.slice(end === 0 ? 0 : line.lastIndexOf("\r", end - 1) + 1, end);
  });
  return last.join("\n");
}

/** Plain text of a complete output. */
export function plainText(text: string): string {
  return /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text) ? new PlainText().push(text) : text;
}

function afterEscape(code: number): State {
  if (code === 0x5b) return "csi";
  if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) return "string";
  if (code >= 0x20 && code <= 0x2f) return "intermediate";
  return code === 0x1b ? "escape" : "text";
}
