import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";

const chunkSize = 1_048_576;

/** Returns fewer bytes than requested if the file ends before. */
export async function readExactly(handle: FileHandle, from: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, from + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

/** Resolves to the number of bytes, all of them: a short write is continued. */
export async function writeExactly(handle: FileHandle, bytes: Uint8Array, at: number): Promise<number> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
  return done;
}

/** The bytes of a file from its start, in pieces. */
export async function* chunksOf(handle: FileHandle): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; ; ) {
    const chunk = await readExactly(handle, at, chunkSize);
    if (chunk.length === 0) return;
    yield chunk;
    at += chunk.length;
  }
}

/**
 * Copies of a workspace's ledger file that were kept when the file had been modified: their directory, and the prefix of their
 * names.
 */
export function recoveredCopies(
  stateDir: string,
  workspaceRoot: string,
): { readonly directory: string; readonly prefix: string } {
  return { directory: join(stateDir, "recovered"), prefix: `${workspaceIdOf(workspaceRoot).slice(0, 16)}-` };
}

/** Path for a new copy, which is made before the file is rewritten. */
export function recoveredCopyPath(stateDir: string, workspaceRoot: string): string {
  const { directory, prefix } = recoveredCopies(stateDir, workspaceRoot);
  return join(directory, `${prefix}${Date.now()}-${randomUUID().slice(0, 8)}.jsonl`);
}

/** Copies a file aside (0600, synced) before it is changed. */
export async function keepCopy(source: FileHandle, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
  const target = await open(copy, "wx", 0o600);
  try {
    let at = 0;
    for await (const chunk of chunksOf(source)) at += await writeExactly(target, chunk, at);
    await target.sync();
  } finally {
    await target.close();
  }
}
