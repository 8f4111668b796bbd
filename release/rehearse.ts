import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gatesNamed } from "./gates/release-gates.ts";
import { runProgram } from "./gates/run-program.ts";
import { artefactNames } from "./make-release.ts";
import { ReleaseError } from "./release-error.ts";
import { sourceState } from "./source-state.ts";
import { keyFile } from "./verify.mjs";

export interface RehearsalOptions {
  readonly root: string;
  /** Gates to run; absent: all. Then the check of the record refuses, for those that were left out. */
  readonly only: readonly string[] | undefined;
  /** Takes what is done, and what the programs write, as it comes. */
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
}

const minute = 60_000;
/** What a step may take besides its gates: it installs, builds, or reads some megabytes. */
const limits = { make: 20 * minute, besidesGates: 10 * minute, other: 5 * minute };

/**
 * A release as it will be, without its key: a fresh clone makes it and runs the gates; a second clone, which knows nothing but
 * the public key, checks it; one changed byte must be refused. What is not committed goes along as a commit of the clone alone.
 * Rejects with `ReleaseError` at the first thing that is not as it must be, and when a step takes too long.
 */
export async function rehearse({ root, only, write, signal }: RehearsalOptions): Promise<void> {
  const gates = gatesNamed(only);
  const scratch = mkdtempSync(join(tmpdir(), "gennai-rehearsal-"));
  try {
    const clone = join(scratch, "clone");
    const second = join(scratch, "second clone");
    const out = join(scratch, "release");
    const { run, must } = steps({ write, signal });
    await must(root, ["git", "clone", "--quiet", "--no-hardlinks", root, clone], limits.other);
    const git = (...args: readonly string[]) => must(clone, ["git", ...args], limits.other);
    if (!sourceState(root).clean) await commitChanges(root, clone, git);
    write(`A fresh clone makes release ${sourceState(clone).version}.\n`);
    await must(clone, ["npm", "run", "--silent", "release", "--", "--out", out], limits.make);
    const names = only === undefined ? [] : gates.flatMap(({ name }) => ["--only", name]);
    const gatesTime = gates.reduce((sum, { timeoutMs }) => sum + timeoutMs, limits.besidesGates);
    await must(clone, ["npm", "run", "--silent", "release:gates", "--", out, ...names], gatesTime);

    await must(root, ["git", "clone", "--quiet", "--no-hardlinks", clone, second], limits.other);
    const publicKey = join(scratch, keyFile);
    cpSync(join(out, keyFile), publicKey);
    // The private key is gone: anyone who checks has none.
    rmSync(`${out}.key`, { recursive: true });
    const check = () => run(second, ["node", join("release", "verify.mjs"), out, "--key", publicKey], limits.other);
    write("A second clone, without any private key, checks it.\n");
    const checked = await check();
    if (only === undefined && checked.code !== 0) throw new ReleaseError("The second clone refuses the release.");

    const { commandLine } = artefactNames(sourceState(clone).version);
    const bytes = readFileSync(join(out, commandLine));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(out, commandLine), bytes);
    write(`One byte of ${commandLine} is changed.\n`);
    const changed = await check();
    if (changed.code !== 1 || !changed.output.includes(`REFUSED: ${commandLine} was changed`)) {
      throw new ReleaseError(`A changed ${commandLine} was not refused.`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A program and its arguments. */
type Command = readonly [string, ...string[]];

/** How a step of the rehearsal runs: `run` gives its end, `must` rejects when that is not 0; both reject when it takes too long. */
function steps({ write, signal }: Pick<RehearsalOptions, "write" | "signal">) {
  const run = async (cwd: string, command: Command, limitMs: number) => {
    const [program, ...args] = command;
    write(`$ ${command.join(" ")}\n`);
    const end = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    return runProgram(program, args, { cwd, signal: end, onOutput: write }).catch((error: unknown) => {
      if (!end.aborted) throw error;
      const why = signal.aborted ? "was interrupted" : `did not end within ${limitMs / minute} minutes`;
      throw new ReleaseError(`${command.join(" ")} ${why}.`);
    });
  };
  const must = async (cwd: string, command: Command, limitMs: number) => {
    const { code } = await run(cwd, command, limitMs);
    if (code !== 0) throw new ReleaseError(`${command.join(" ")} ended with ${code}.`);
  };
  return { run, must };
}

/** Takes over what is not committed, and commits it there. */
async function commitChanges(
  root: string,
  clone: string,
  git: (...args: readonly string[]) => Promise<void>,
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
