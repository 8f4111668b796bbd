/** An event that a server sent. */
export interface SentEvent {
  /** Empty: it has none. */
  readonly name: string;
  readonly data: string;
}

/** Server-sent events, out of their text in whatever pieces it comes: https://html.spec.whatwg.org/#parsing-an-event-stream */
export class EventData {
  /** Of a line that has not ended. */
  #rest = "";
  /** The last piece ended with a carriage return: a line feed after it belongs to that. */
  #returned = false;
  /** Of an event that has not ended. */
  #data: string | undefined;
  #name = "";

  /** What this piece ends. */
  take(piece: string): readonly SentEvent[] {
    if (piece === "") return [];
    const [first = "", ...others] = (this.#returned && piece.startsWith("\n") ? piece.slice(1) : piece).split(lineEnd);
    this.#returned = piece.endsWith("\r");
    const lines = [this.#rest + first, ...others];
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#takeLine(line) ?? []);
  }

  /** What is left when the text is over: some servers do not end their last line. */
  end(): readonly SentEvent[] {
    return this.take("\n\n");
  }

  /** The event, when the line ends one. */
  #takeLine(line: string): SentEvent | undefined {
    if (line === "") {
      const [name, data] = [this.#name, this.#data];
      this.#data = undefined;
      this.#name = "";
      return data === undefined ? undefined : { name, data };
    }
    if (line.startsWith("event:")) this.#name = line.slice(6).trim();
    const value = line === "data" ? "" : line.startsWith("data:") ? line.slice(line[5] === " " ? 6 : 5) : undefined;
    if (value !== undefined) this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    return undefined;
  }
}

const lineEnd = /\r\n|\n|\r/;

/** "ping" and the like, which no piece of JSON is. */
export function isSignOfLife(data: string): boolean {
  return /^[\w :-]*$/.test(data);
}
