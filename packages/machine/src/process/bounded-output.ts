import { isUtf8 } from "node:buffer";

/** `unknown`: bytes that are not UTF-8 became U+FFFD. */
export type OutputEncoding = "utf-8" | "utf-16" | "unknown";

/** Keeps the beginning and the end of an output that may be huge, in bounded memory. */
export class BoundedOutput {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Buffer[] = [];
  #headSize = 0;
  #tail: Buffer[] = [];
  #tailSize = 0;
  #total = 0;

  /** @param limit bytes kept, half of them from the beginning */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2);
    this.#tailLimit = Math.floor(limit / 2);
  }

  /** Bytes received, kept or not. */
  get total(): number {
    return this.#total;
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#headLimit - this.#headSize;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      // A copy: a slice would keep the stream's whole buffer alive.
      this.#head.push(Buffer.from(part));
      this.#headSize += part.length;
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(Math.max(0, rest.length - this.#tailLimit))));
    this.#tailSize += Math.min(rest.length, this.#tailLimit);
    // Trimmed at twice the limit, so that small chunks are not copied again and again.
    if (this.#tailSize > 2 * this.#tailLimit || this.#tail.length > 1024) {
      const joined = Buffer.concat(this.#tail);
      const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#tailLimit)));
      this.#tail = [kept];
      this.#tailSize = kept.length;
    }
  }

  /** The text, with a note in the middle when something is left out. */
  text(): { readonly text: string; readonly leftOut: number; readonly encoding: OutputEncoding } {
    const head = Buffer.concat(this.#head);
    const joined = Buffer.concat(this.#tail);
    if (this.#headSize + joined.length === this.#total && joined.length <= this.#tailLimit) {
      return { ...decoded([head, joined]), leftOut: 0 };
    }
    if (byteOrder(head) !== undefined) {
      const tail = joined.subarray(Math.max(0, joined.length - this.#tailLimit));
      // Both halves begin with a whole 16-bit unit.
      const even = tail.subarray((this.#total - tail.length) % 2);
      const kept = head.subarray(0, head.length - (head.length % 2));
      const leftOut = this.#total - kept.length - even.length;
      const [begin, end] = [decoded([kept]).text, decoded([head.subarray(0, 2), even]).text];
      return { text: `${begin}\n[${leftOut} bytes of output left out here]\n${end}`, leftOut, encoding: "utf-16" };
    }
    const keptHead = head.subarray(0, characterBorder(head, head.length));
    const tail = joined.subarray(Math.max(0, joined.length - this.#tailLimit));
    const keptTail = tail.subarray(tail.length - tailLength(tail));
    const leftOut = this.#total - keptHead.length - keptTail.length;
    const [first, last] = [decoded([keptHead]), decoded([keptTail])];
    return {
      text: `${first.text}\n[${leftOut} bytes of output left out here]\n${last.text}`,
      leftOut,
      encoding: first.encoding === "utf-8" ? last.encoding : first.encoding,
    };
  }
}

/** Decodes as UTF-16 if a byte order mark says so; otherwise as UTF-8, with U+FFFD for other bytes. */
function decoded(parts: readonly Buffer[]): { readonly text: string; readonly encoding: OutputEncoding } {
  const bytes = Buffer.concat(parts);
  const order = byteOrder(bytes);
  if (order !== undefined) return { text: new TextDecoder(order).decode(bytes), encoding: "utf-16" };
  const text = bytes.toString("utf8");
  return { text, encoding: isUtf8(bytes) && !text.includes("\0") ? "utf-8" : "unknown" };
}

function byteOrder(bytes: Buffer): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

/** The last position up to `at` that does not split a character. */
function characterBorder(bytes: Buffer, at: number): number {
  for (let back = 1; back <= 3 && back <= at; back += 1) {
    const byte = bytes[at - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? at - back : at;
  }
  return at;
}

/** Number of bytes from the first whole character on. */
function tailLength(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.length - start;
}
