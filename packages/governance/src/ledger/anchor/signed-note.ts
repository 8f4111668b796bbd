import { sha256Hex } from "@gennai/protocol/digest";

// Notes as c2sp.org/signed-note has them: a text, an empty line, and a line for each signature.

/** A signature line; whether it is genuine is another question. */
export interface NoteSignature {
  readonly name: string;
  /** Eight hex digits: identifies key and kind, but proves nothing. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** Ends with a line break. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** `note`: over the text. `cosignature`: over a time and the text (c2sp.org/tlog-cosignature). */
export type NoteKeyKind = "note" | "cosignature";

/** An Ed25519 key with the name that it signs notes under. */
export interface NoteKey {
  readonly name: string;
  readonly kind: NoteKeyKind;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

const kinds = { note: 1, cosignature: 4 } as const;
const mostSignatures = 100;
const mostCharacters = 1024 * 1024;

/** Whether a name is allowed in a signature line. */
function isKeyName(name: string): boolean {
  return name !== "" && name.isWellFormed() && !/[\s+\p{Cc}\p{Z}]/u.test(name);
}

/** Eight hex digits: the beginning of a SHA-256 over name, kind and key. */
export function noteKeyId({ name, kind, publicKey }: NoteKey): string {
  return sha256Hex(new Uint8Array([...utf8(`${name}\n`), kinds[kind], ...publicKey])).slice(0, 8);
}

/** A key as verifiers are told it: `NAME+KEYID+BASE64`. */
export function verifierKey(key: NoteKey): string {
  return `${key.name}+${noteKeyId(key)}+${base64Of(new Uint8Array([kinds[key.kind], ...key.publicKey]))}`;
}

/** undefined for what is no such key, or says another id than it has. */
export function parseVerifierKey(text: string): NoteKey | undefined {
  const [, name = "", id = "", base64 = ""] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/.exec(text) ?? [];
  const bytes = bytesOf(base64);
  const kind = bytes?.[0] === kinds.note ? "note" : bytes?.[0] === kinds.cosignature ? "cosignature" : undefined;
  if (!isKeyName(name) || kind === undefined || bytes?.length !== 33) return undefined;
  const key: NoteKey = { name, kind, publicKey: bytes.slice(1) };
  return noteKeyId(key) === id ? key : undefined;
}

export function formatNote({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join("")}`;
}

/** undefined for what is not a signed note. */
export function parseNote(note: string): SignedNote | undefined {
  if (note.length > mostCharacters || !note.isWellFormed() || /(?!\n)[\0-\x1f]/.test(note)) return undefined;
  const split = note.lastIndexOf("\n\n");
  if (split < 1 || !note.endsWith("\n")) return undefined;
  const lines = note.slice(split + 2, -1).split("\n");
  if (lines.length > mostSignatures) return undefined;
  const signatures = lines.map(parseSignature);
  if (signatures.some((signature) => signature === undefined)) return undefined;
  return { text: note.slice(0, split + 1), signatures: signatures.filter((signature) => signature !== undefined) };
}

/**
 * The notes of a text that holds several, one below the other; other text between them is left out. None of their texts
 * has an empty line.
 */
export function notesIn(text: string): readonly SignedNote[] {
  const found: SignedNote[] = [];
  let body: string[] = [];
  let signatures: string[] = [];
  let isSigned = false;
  const close = (): void => {
    const note = signatures.length === 0 ? undefined : parseNote(`${[...body, "", ...signatures].join("\n")}\n`);
    if (note !== undefined) found.push(note);
    [body, signatures, isSigned] = [[], [], false];
  };
  for (const line of text.split(/\r?\n/)) {
    if (isSigned && line.startsWith("— ")) {
      signatures.push(line);
      continue;
    }
    if (isSigned) close();
    if (line === "") isSigned = body.length > 0;
    else body.push(line);
  }
  close();
  return found;
}

/** The bytes that a key of this kind signs. @param time of a cosignature, in seconds since the epoch */
export function signedBytes(text: string, kind: NoteKeyKind, time: bigint): Uint8Array {
  return utf8(kind === "note" ? text : `cosignature/v1\ntime ${time}\n${text}`);
}

/** The signature field of a line; for a cosignature, it begins with the time. */
export function withTime(signature: Uint8Array, kind: NoteKeyKind, time: bigint): Uint8Array {
  if (kind === "note") return signature;
  const bytes = new Uint8Array(8 + signature.length);
  new DataView(bytes.buffer).setBigUint64(0, time);
  bytes.set(signature, 8);
  return bytes;
}

/** The reverse; undefined if the length is that of another kind. `time` is 0 if there is none. */
export function withoutTime(
  bytes: Uint8Array,
  kind: NoteKeyKind,
): { readonly signature: Uint8Array; readonly time: bigint } | undefined {
  if (kind === "note") return bytes.length === 64 ? { signature: bytes, time: 0n } : undefined;
  if (bytes.length !== 72) return undefined;
  const time = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  return time < 2n ** 63n ? { signature: bytes.slice(8), time } : undefined;
}

function signatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = (keyId.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
  return `— ${name} ${base64Of(new Uint8Array([...id, ...signature]))}\n`;
}

function parseSignature(line: string): NoteSignature | undefined {
  const [, name = "", base64 = ""] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = bytesOf(base64);
  if (!isKeyName(name) || bytes === undefined || bytes.length < 5) return undefined;
  const keyId = Array.from(bytes.slice(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { name, keyId, signature: bytes.slice(4) };
}

export function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** undefined unless it is the one form of these bytes. */
export function bytesOf(base64: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return base64Of(bytes) === base64 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
