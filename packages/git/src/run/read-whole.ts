import { Buffer } from "node:buffer";
import type { StartedGit } from "./start-git.ts";

/** Bytes that are kept of an answer. */
const maxOutput = 16 * 1024 * 1024;

/** All that a git printed. Rejects with `RangeError` for more than 16 MiB. */
export async function readWhole(
  running: StartedGit,
): Promise<{ readonly code: number | undefined; readonly output: Buffer; readonly errors: string }> {
  const pieces: Buffer[] = [];
  let size = 0;
  running.stdout.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size > maxOutput) running.kill();
    else pieces.push(piece);
  });
  const { code, errors } = await running.ended;
  if (size > maxOutput) throw new RangeError("git printed more than 16 MiB.");
  return { code, output: Buffer.concat(pieces), errors };
}
