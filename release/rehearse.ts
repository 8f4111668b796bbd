import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runProgram } from "./gates/run-program.ts";
import { artefactNames } from "./make-release.ts";
import { ReleaseError } from "./release-error.ts";
import { sourceState } from "./source-state.ts";
import { keyFile } from "./verify.mjs";

export interface RehearsalOptions {
  readonly root: string;
  /** Gates to run; absent: all. The check of the record then refuses for those alone that were left out. */
  readonly only?: readonly string[];
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * A release as it will be, without its key: a fresh clone makes it and runs the gates; a second clone, which knows nothing but
 * the public key, checks it; one changed byte must be refused. What is not committed goes along as a commit of the clone alone.
 * Rejects with `ReleaseError` at the first thing that is not as it must be.
 */
export async function rehearse({ root, only, print, signal }: RehearsalOptions): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "gennai-rehearsal-"));
  try {
    const clone = join(scratch, "clone");
    const second = join(scratch, "second clone");
    const out = join(scratch, "release");
    const run = async (cwd: string, program: string, ...args: readonly string[]) =>
      runProgram(program, args, { cwd, signal });
    const must = async (cwd: string, program: string, ...args: readonly string[]) => {
      const { code, output } = await run(cwd, program, ...args);
      if (code !== 0)
        throw new ReleaseError(`${program} ${args.join(" ")} ended with ${code}:\n${output.slice(-6000)}`);
      return output;
    };
    await must(root, "git", "clone", "--quiet", "--no-hardlinks", root, clone);
    if (!sourceState(root).clean) await commitChanges(root, clone, (...args) => must(clone, "git", ...args));
    print(`A fresh clone makes release ${sourceState(clone).version}.`);
    print(await must(clone, "npm", "run", "--silent", "release", "--", "--out", out));
    const gates = (only ?? []).flatMap((name) => ["--only", name]);
    const gated = await run(clone, "npm", "run", "--silent", "release:gates", "--", out, ...gates);
    print(gated.output);
    if (only === undefined && gated.code !== 0) throw new ReleaseError("The gates refuse the release.");

    await must(root, "git", "clone", "--quiet", "--no-hardlinks", clone, second);
    const publicKey = join(scratch, keyFile);
    cpSync(join(out, keyFile), publicKey);
    // The private key is gone: anyone who checks has none.
    rmSync(`${out}.key`, { recursive: true });
    const check = (directory: string) =>
      run(second, "node", join("release", "verify.mjs"), directory, "--key", publicKey);
    const checked = await check(out);
    print(`A second clone, without any private key, checks it:\n${checked.output}`);
    if (only === undefined && checked.code !== 0) throw new ReleaseError("The second clone refuses the release.");

    const { commandLine } = artefactNames(sourceState(clone).version);
    const bytes = readFileSync(join(out, commandLine));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(out, commandLine), bytes);
    const changed = await check(out);
    print(`One byte of ${commandLine} changed:\n${changed.output}`);
    if (changed.code !== 1 || !changed.output.includes(`REFUSED: ${commandLine} was changed`)) {
      throw new ReleaseError(`A changed ${commandLine} was not refused.`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Takes over what is not committed, and commits it there. */
async function commitChanges(
  root: string,
  clone: string,
  git: (...args: readonly string[]) => Promise<string>,
): Promise<void> {
  const { signal } = new AbortController();
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { output } = await runProgram("git", list, { cwd: root, signal });
  for (const path of output.split("\0").filter((each) => each !== "")) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    if (existsSync(join(root, path))) cpSync(join(root, path), join(clone, path), { verbatimSymlinks: true });
    else rmSync(join(clone, path), { force: true });
  }
  await git("add", "--all");
  const identity = ["-c", "user.name=Rehearsal", "-c", "user.email=rehearsal@gennai.invalid"];
  await git(...identity, "commit", "--quiet", "--message", "What is not committed yet");
}
