import { openGit } from "./run/run-git.ts";

/** What of a repository is read at most, in bytes. */
const mostBytes = 256 * 1024 * 1024;

/**
 * The blobs that are named (`OBJECT` or `COMMIT:PATH`), as git hands them out, one after the other; what is missing or no blob is
 * left out. Nothing where git cannot read the directory.
 *
 * @param take gets the place of the name in the list; true when nothing more is wanted
 */
export async function readObjects(
  directory: string,
  names: readonly string[],
  take: (at: number, bytes: Buffer) => boolean,
): Promise<void> {
  if (names.length === 0) return;
  // Older gits know no `-z`, which lets a name have a line break in it.
  const isPlain = names.every((name) => !name.includes("\n"));
  const end = isPlain ? "\n" : "\0";
  const command = ["cat-file", "--batch", ...(isPlain ? [] : ["-z"])];
  const running = await openGit(command, { directory }).catch(() => undefined);
  if (running === undefined) return;
  running.stdin.on("error", () => {});
  running.stdin.end(names.map((name) => `${name}${end}`).join(""));
  let rest = Buffer.alloc(0);
  let read = 0;
  let at = 0;
  let body: { readonly size: number; readonly isBlob: boolean } | undefined;
  running.stdout.on("data", (piece: Buffer) => {
    read += piece.length;
    if (read > mostBytes) return running.kill();
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      if (body === undefined) {
        const name = names[at] ?? "";
        // What is missing is answered with the name, which may hold line breaks itself.
        const absent = Buffer.from(`${name} missing\n`);
        if (rest.length >= absent.length && rest.subarray(0, absent.length).equals(absent)) {
          rest = rest.subarray(absent.length);
          at += 1;
          continue;
        }
        const past = rest.indexOf(10);
        if (past === -1) return undefined;
        const found = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(rest.toString("latin1", 0, past));
        if (found === null) {
          if (rest.length < absent.length) return undefined;
          return running.kill();
        }
        rest = rest.subarray(past + 1);
        body = { size: Number(found[2]), isBlob: found[1] === "blob" };
      } else {
        if (rest.length <= body.size) return undefined;
        const done = body.isBlob && take(at, rest.subarray(0, body.size));
        rest = rest.subarray(body.size + 1);
        body = undefined;
        at += 1;
        if (done) return running.kill();
      }
    }
  });
  await running.ended.catch(() => undefined);
}
