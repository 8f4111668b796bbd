/** What git's index says of the paths that matter here. */
export interface IndexEntries {
  /** Mode and object of each control file and of each link to another repository, by path from the work tree's top. */
  readonly control: ReadonlyMap<string, string>;
}

const gitlink = 0o160000;

/**
 * Reads git's index (versions 2 to 4); undefined for one that is split, sparse or of another kind, of which nothing can be
 * told. Runs no git: the repository may not be trusted.
 *
 * @param isControl of a path from the work tree's top
 */
export function readIndex(bytes: Uint8Array, isControl: (path: string) => boolean): IndexEntries | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 12 || view.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = view.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  for (const objectBytes of [20, 32]) {
    const read = entriesOf(view, { version, objectBytes, isControl });
    if (read !== undefined) return read;
  }
  return undefined;
}

function entriesOf(
  view: Buffer,
  options: { readonly version: number; readonly objectBytes: number; isControl(path: string): boolean },
): IndexEntries | undefined {
  const { version, objectBytes } = options;
  const count = view.readUInt32BE(8);
  const control = new Map<string, string>();
  let path: Buffer = Buffer.alloc(0);
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const start = at;
    const flagsAt = start + 40 + objectBytes;
    if (flagsAt + 4 > view.length) return undefined;
    const mode = view.readUInt32BE(start + 24);
    const isExtended = version > 2 && (view.readUInt16BE(flagsAt) & 0x4000) !== 0;
    at = flagsAt + (isExtended ? 4 : 2);
    let shared = 0;
    if (version === 4) {
      const strip = readOffset(view, at);
      if (strip === undefined || strip.value > path.length) return undefined;
      shared = path.length - strip.value;
      at = strip.next;
    }
    const end = view.indexOf(0, at);
    if (end < 0 || ![0o100644, 0o100755, 0o120000, gitlink].includes(mode)) return undefined;
    path = Buffer.concat([path.subarray(0, shared), view.subarray(at, end)]);
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    const name = path.toString();
    if (mode !== gitlink && !options.isControl(name)) continue;
    const stage = (view.readUInt16BE(flagsAt) >> 12) & 3;
    const object = view.toString("hex", start + 40, flagsAt);
    control.set(stage === 0 ? name : `${name}\0${stage}`, `${mode.toString(8)} ${object}`);
  }
  return followedByWhole(view, at, objectBytes) ? { control } : undefined;
}

/** Variable-length number of version 4. */
function readOffset(view: Buffer, start: number): { readonly value: number; readonly next: number } | undefined {
  let at = start;
  let byte = view[at++];
  let value = (byte ?? 0) & 0x7f;
  while (byte !== undefined && (byte & 0x80) !== 0) {
    byte = view[at++];
    value = (value + 1) * 128 + ((byte ?? 0) & 0x7f);
  }
  return byte === undefined ? undefined : { value, next: at };
}

/** Extensions follow, then a digest. Those in small letters change what the entries mean. */
function followedByWhole(view: Buffer, start: number, objectBytes: number): boolean {
  let at = start;
  while (at + 8 <= view.length - objectBytes) {
    if (/^[a-z]/.test(view.toString("latin1", at, at + 4))) return false;
    at += 8 + view.readUInt32BE(at + 4);
  }
  return at === view.length - objectBytes;
}
