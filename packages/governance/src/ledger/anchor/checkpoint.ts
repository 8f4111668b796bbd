import { base64Of, bytesOf } from "./signed-note.ts";

/** The head of a log as c2sp.org/tlog-checkpoint has it. */
export interface Checkpoint {
  /** Name of the log. */
  readonly origin: string;
  /** Records. */
  readonly size: number;
  /** Root of the Merkle tree over them, 32 bytes in hex. */
  readonly root: string;
}

/** Names a ledger by its first record, so that the name tells nothing of where it is. @param firstHash in hex */
export function originOf(firstHash: string): string {
  return `gennai.invalid/ledger/${firstHash.slice(0, 32)}`;
}

/** The text of a note. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64Of(Uint8Array.from(root.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)))}\n`;
}

/** Undefined if the text is no checkpoint. Lines after the third are ignored. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const lines = text.split("\n");
  const [origin = "", size = "", base64 = "", ...rest] = lines;
  const root = bytesOf(base64);
  const isWhole = lines.length >= 4 && rest.at(-1) === "" && rest.slice(0, -1).every((line) => line !== "");
  if (!isWhole || origin === "" || !/^(0|[1-9]\d{0,15})$/.test(size) || root?.length !== 32) return undefined;
  if (!Number.isSafeInteger(Number(size))) return undefined;
  return {
    origin,
    size: Number(size),
    root: Array.from(root, (byte) => byte.toString(16).padStart(2, "0")).join(""),
  };
}
