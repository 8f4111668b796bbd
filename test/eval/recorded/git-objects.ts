import { realpathSync } from "node:fs";
import { startGit } from "@gennai/git/run/start-git";

const maxBytes = 512 * 1024 * 1024;

/**
 * What git keeps, read without running anything that a repository says: by the machine's own git for repositories that others wrote.
 * Rejects when git fails, with what it said.
 * @param gitDir of a work tree (`…/.git`), or a bare repository
 */
export async function git(gitDir: string, args: readonly string[], input = ""): Promise<Buffer> {
  const place = realpathSync(gitDir);
  const running = await startGit(args, {
    cwd: place,
    // Nothing is read there: the repository's setting for its working tree has no effect.
    workTree: place,
    environment: { GIT_DIR: place, GIT_OPTIONAL_LOCKS: "0" },
    readable: [place],
    writable: [],
    repository: "of-others",
  });
  const pieces: Buffer[] = [];
  let size = 0;
  running.stdout.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size > maxBytes) running.kill();
    else pieces.push(piece);
  });
  running.stdin.end(input);
  const { code, errors } = await running.ended;
  if (size > maxBytes) throw new RangeError(`git ${args[0]} printed more than 512 MiB of ${gitDir}.`);
  if (code !== 0) throw new Error(`git ${args[0]} cannot read ${gitDir}: ${errors.trim() || "it was killed"}`);
  return Buffer.concat(pieces);
}

/** The contents of blobs, by id; what a shallow or partial clone lacks is left out. */
export async function blobs(gitDir: string, ids: Iterable<string>): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = [...new Set(ids)];
  const out = await git(gitDir, ["cat-file", "--batch"], wanted.map((id) => `${id}\n`).join(""));
  const found = new Map<string, Buffer>();
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [id = "", type, size] = out.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (type === "missing") continue;
    if (type === "blob") found.set(id, Buffer.from(out.subarray(at, at + Number(size))));
    at += Number(size) + 1;
  }
  return found;
}
