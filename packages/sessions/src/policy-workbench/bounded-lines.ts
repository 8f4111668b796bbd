/** A line of input without its line break; undefined if it exceeded the limit. */
export type BoundedLine = string | undefined;

/** Lines of a stream; longer ones than `maxBytes` are not kept, to limit memory. */
export async function* boundedLines(
  input: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): AsyncGenerator<BoundedLine, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer): void => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  const end = (): BoundedLine => {
    const line = length > maxBytes ? undefined : Buffer.concat(parts).toString("utf8");
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of input) {
    const bytes =
      typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, start)) {
      take(bytes.subarray(start, at));
      start = at + 1;
      yield end();
    }
    if (start < bytes.length) take(bytes.subarray(start));
  }
  if (length > 0) yield end();
}
