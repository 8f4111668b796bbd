/** A request to a name server. */
export interface NameQuery {
  readonly id: number;
  /** Lower case, without the last dot. */
  readonly name: string;
  /** Type of the record: 1 for an IPv4 address. */
  readonly type: number;
  /** The question as received, to be repeated in the answer. */
  readonly question: Buffer;
}

const headerBytes = 12;
const internet = 1;
const address4 = 1;
/** Seconds for which an answer may be remembered. */
const lifetime = 1;

/** Parses a single question as in RFC 1035; undefined for all other messages. */
export function parseNameQuery(message: Buffer): NameQuery | undefined {
  if (message.length < headerBytes + 5 || message.length > 512) return undefined;
  const flags = message.readUInt16BE(2);
  const isQuestion = (flags & 0xf800) === 0;
  if (!isQuestion || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = headerBytes;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63) return undefined;
    at += 1;
    if (length === 0) break;
    const label = message.subarray(at, at + length);
    if (label.length < length || label.some((byte) => byte <= 0x20 || byte > 0x7e || byte === 0x2e)) return undefined;
    labels.push(label.toString("latin1").toLowerCase());
    at += length;
  }
  if (at + 4 > message.length || labels.length === 0) return undefined;
  if (message.readUInt16BE(at + 2) !== internet) return undefined;
  return {
    id: message.readUInt16BE(0),
    name: labels.join("."),
    type: message.readUInt16BE(at),
    question: message.subarray(headerBytes, at + 4),
  };
}

export function asksForAddress({ type }: NameQuery): boolean {
  return type === address4;
}

/** @param found `none`: the name has no such record; `unknown`: there is no such name */
export function nameAnswer(
  { id, question }: NameQuery,
  found: "none" | "unknown" | { readonly address: string },
): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(id, 0);
  // Flags: an answer; recursion was requested and is available.
  header.writeUInt16BE(0x8180 | (found === "unknown" ? 3 : 0), 2);
  header.writeUInt16BE(1, 4);
  if (typeof found === "string") return Buffer.concat([header, question]);
  header.writeUInt16BE(1, 6);
  const record = Buffer.alloc(16);
  // Points to the name in the question section.
  record.writeUInt16BE(0xc000 | headerBytes, 0);
  record.writeUInt16BE(address4, 2);
  record.writeUInt16BE(internet, 4);
  record.writeUInt32BE(lifetime, 6);
  record.writeUInt16BE(4, 10);
  for (const [index, part] of found.address.split(".").entries()) record.writeUInt8(Number(part), 12 + index);
  return Buffer.concat([header, question, record]);
}
