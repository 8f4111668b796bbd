/**
 * Removes control sequences from terminal output, piece by piece: colours, cursor movements, titles and the marks of shell
 * integration. The rest is the text that a person sees, with line feeds. A piece may end within a sequence.
 */
export class TerminalOutput {
  #state: State = "text";
  /** A carriage return that may belong to a line feed. */
  #return = false;
  /** Characters of the sequence so far. */
  #length = 0;

  /** The text in one piece. */
  push(piece: string): string {
    let text = "";
    let at = 0;
    while (at < piece.length) {
      if (this.#state === "text") {
        const end = plainEnd(piece, at);
        if (end > at) {
          text += this.#visible(piece.slice(at, end));
          at = end;
          continue;
        }
        text += this.#control(piece.charCodeAt(at));
        at++;
      } else if (this.#continues(piece.charCodeAt(at))) at++;
      else this.#enter("text");
    }
    return text;
  }

  #enter(state: State): void {
    this.#state = state;
    this.#length = 0;
  }

  #visible(text: string): string {
    if (!this.#return) return text;
    this.#return = false;
    return `\r${text}`;
  }

  /** The text for a control character outside of a sequence. */
  #control(code: number): string {
    if (code === lineFeed) {
      this.#return = false;
      return "\n";
    }
    if (code === carriageReturn) this.#return = true;
    else this.#enter(stateAfter(code));
    return "";
  }

  /** Handles a character within a sequence. False if it does not belong to the sequence and must be handled as text. */
  #continues(code: number): boolean {
    this.#length++;
    switch (this.#state) {
      case "escape":
        if (code === 0x5b) this.#enter("csi");
        else if (stringStarts.has(code)) this.#enter("string");
        else if (isBetween(code, 0x20, 0x2f)) this.#enter("charset");
        else if (isBetween(code, 0x30, 0x7e)) this.#enter("text");
        else return false;
        return true;
      case "charset":
        if (isBetween(code, 0x30, 0x7e)) this.#enter("text");
        return isBetween(code, 0x20, 0x7e);
      case "csi":
        if (isBetween(code, 0x40, 0x7e)) this.#enter("text");
        return isBetween(code, 0x20, 0x7e);
      case "string":
        if (code === bell || code === stringEnd) this.#enter("text");
        else if (code === escape) this.#enter("escape");
        else if (this.#length > longestString) this.#enter("text");
        return true;
      default:
        return false;
    }
  }
}

type State = "text" | "escape" | "charset" | "csi" | "string";

/** Characters after which an unterminated string counts as ended. */
const longestString = 64 * 1024;

const bell = 0x07;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const escape = 0x1b;
const stringEnd = 0x9c;
/** After an escape: operating system command, device control, start of string, privacy message, application command. */
const stringStarts: ReadonlySet<number> = new Set([0x5d, 0x50, 0x58, 0x5e, 0x5f]);
/** The same sequences as single characters. */
const singleStringStarts: ReadonlySet<number> = new Set([0x9d, 0x90, 0x98, 0x9e, 0x9f]);

function stateAfter(code: number): State {
  if (code === escape) return "escape";
  if (code === 0x9b) return "csi";
  return singleStringStarts.has(code) ? "string" : "text";
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}

/** Position of the next control character; a tab counts as text. */
function plainEnd(piece: string, from: number): number {
  let at = from;
  for (; at < piece.length; at++) {
    const code = piece.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || isBetween(code, 0x7f, 0x9f)) break;
  }
  return at;
}
