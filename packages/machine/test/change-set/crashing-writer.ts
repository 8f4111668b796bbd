/**
 * A process that dies by SIGKILL in the middle of `apply`, for `recover-file-sets.test.ts`.
 * Arguments: workspace, state directory, and the number of the changing file system call before which to die (0: never).
 * A fourth argument `again`: dies in the second of two changes of one file, for which the journal of the first is used again.
 * `loop` in place of the number: changes files for ever, until somebody kills it, and prints a line after each time.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

const [directory = "", stateDir = "", dieAt = "0", kind = ""] = process.argv.slice(2);
// Not a number while modules are loaded: then no call is the one to die at.
let calls = Number.NaN;
for (const name of [
  ...["writeSync", "renameSync", "linkSync", "unlinkSync", "mkdirSync", "rmdirSync", "rmSync", "fsync"],
] as const) {
  const original = fs[name] as (...parameters: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...parameters: unknown[]) => {
      calls += 1;
      if (calls === Number(dieAt)) process.kill(process.pid, "SIGKILL");
      return original(...parameters);
    },
  });
}
syncBuiltinESMExports();

const { openLocalWorkspace } = await import("../../src/workspace/local-workspace.ts");
const { sha256 } = await import("../../src/workspace/files/content-digest.ts");
const workspace = openLocalWorkspace(directory, { stateDir });
const text = (letter: string): Uint8Array => Buffer.from(letter.repeat(20_000));
const change = async (path: string, from: string, to: string) =>
  ({
    operation: "update",
    path: await workspace.resolve(path),
    bytes: text(to),
    baseSha256: sha256(text(from)),
  }) as const;

if (dieAt === "loop") {
  for (let [from, to, times] = ["a", "b", 1]; ; [from, to, times] = [to, from, times + 1]) {
    await workspace.apply([await change("one", from ?? "", to ?? ""), await change("dir/two", from ?? "", to ?? "")]);
    await workspace.apply([await change("single", from ?? "", to ?? "")]);
    process.stdout.write(`${times}\n`);
  }
}
if (kind === "again") {
  await workspace.apply([await change("single", "a", "c")]);
  calls = 0;
  await workspace.apply([await change("single", "c", "b")]);
  process.stdout.write(`${calls}\n`);
  process.exit();
}
calls = 0;
await workspace.apply([
  await change("one", "a", "b"),
  await change("dir/two", "a", "b"),
  { operation: "create", path: await workspace.resolve("new/deep/three"), bytes: text("b") },
  { operation: "delete", path: await workspace.resolve("single"), baseSha256: sha256(text("a")) },
]);
process.stdout.write(`${calls}\n`);
