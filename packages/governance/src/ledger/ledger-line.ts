import { runningSha256 } from "@gennai/protocol/digest";

/** One line of a file, with where it is. */
export interface FileLine {
  /** 1-based. */
  readonly number: number;
  /** Offset of its first byte in the file. */
  readonly offset: number;
  /** Without the line break; empty when `tooLong`. */
  readonly bytes: Uint8Array;
  /** Length including the line break, if any. */
  readonly size: number;
  /** False for a last line without a line break. */
  readonly terminated: boolean;
  readonly tooLong: boolean;
  /** SHA-256 of all bytes before this line; right until the next line is asked for. */
  sha256Before(): string;
}

/** Longer lines are not kept in memory: no record comes near this. */
const maxLineBytes = 4 * 1024 * 1024;

/** Splits at LF. Empty input has no line, and nothing follows a final line break. */
export async function* fileLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<FileLine, void, undefined> {
  const before = runningSha256();
  let number = 1;
  let offset = 0;
  let parts: Uint8Array[] = [];
  let size = 0;

  const take = (bytes: Uint8Array): void => {
    parts.push(bytes);
    size += bytes.length;
    if (size > maxLineBytes) hashParts();
  };
  const hashParts = (): void => {
    for (const part of parts) before.update(part);
    parts = [];
  };
  const line = (terminated: boolean): FileLine => {
    const tooLong = size > maxLineBytes;
    const bytes = tooLong ? new Uint8Array() : joined(parts, terminated ? size - 1 : size);
    return { number, offset, bytes, size, terminated, tooLong, sha256Before: () => before.hex() };
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end + 1));
      yield line(true);
      hashParts();
      number += 1;
      offset += size;
      size = 0;
      start = end + 1;
    }
    // Copied, for the source may use its buffer again.
    if (start < chunk.length) take(chunk.slice(start));
  }
  if (size > 0) yield line(false);
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only.subarray(0, size);
  const all = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.subarray(0, size);
}
