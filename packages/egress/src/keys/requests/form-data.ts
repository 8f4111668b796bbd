/** A field of a form, or a file with its name. */
export interface FormPart {
  readonly name: string;
  readonly file?: string;
  readonly content: Buffer;
}

/** The parts of a `multipart/form-data` body; undefined for one that servers could read in different ways. */
export function readForm(body: Buffer, boundary: string): readonly FormPart[] | undefined {
  const delimiter = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  if (!body.subarray(0, delimiter.length).equals(delimiter)) return undefined;
  for (let at = delimiter.length; ; ) {
    const rest = body.toString("latin1", at, at + 4);
    if (rest === "--\r\n" || rest === "--") return at + rest.length === body.length ? parts : undefined;
    if (!rest.startsWith("\r\n")) return undefined;
    const end = body.indexOf(`\r\n--${boundary}`, at + 2, "latin1");
    const part = end < 0 ? undefined : partIn(body.subarray(at + 2, end));
    if (part === undefined) return undefined;
    parts.push(part);
    at = end + 2 + delimiter.length;
  }
}

function partIn(bytes: Buffer): FormPart | undefined {
  const head = bytes.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const lines = bytes.toString("latin1", 0, head).split("\r\n");
  const said = lines
    .map((line) => /^content-disposition: ?form-data; ?name="([^"\\\r\n]+)"(?:; ?filename="([\w.!+-]+)")?$/i.exec(line))
    .filter((one) => one !== null);
  const [, name, file] = said[0] ?? [];
  const others = lines.filter((line) => !/^content-disposition:/i.test(line));
  if (name === undefined || said.length !== 1 || others.length !== lines.length - 1) return undefined;
  if (!others.every((line) => /^content-type: ?[\w./+-]+(?:; ?charset=utf-8)?$/i.test(line))) return undefined;
  return { name, ...(file !== undefined && { file }), content: bytes.subarray(head + 4) };
}

/** The same parts in the one form that every server reads alike. */
export function writtenForm(parts: readonly FormPart[], boundary: string): Buffer {
  const written = parts.flatMap(({ name, file, content }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? "" : `; filename="${file}"\r\nContent-Type: application/octet-stream`}\r\n\r\n`,
    ),
    content,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)]);
}
