import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasCode } from "../../system-error.ts";
import { CheckpointError } from "../checkpoint-error.ts";

interface ShadowRun {
  readonly input?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Absolute directory that git takes for the working tree; the workspace unless given. */
  readonly workTree?: string;
  /** Absolute path of an index; the shadow's own unless given. */
  readonly index?: string;
  /** Further settings, `name=value`. */
  readonly settings?: readonly string[];
}

/** Milliseconds for a git that was asked to end. */
const forceMs = 2_000;
/** Bytes one answer of git may have. */
const maxOutput = 1024 * 1024 * 1024;

/**
 * What would make git change bytes, run a program, or follow anybody's configuration. The names of files are theirs to
 * choose: what other systems could not store is no reason to lose a file on this one.
 */
const settings: readonly string[] = [
  "core.bare=false",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.autocrlf=false",
  "core.safecrlf=false",
  "core.excludesFile=/dev/null",
  "core.attributesFile=/dev/null",
  "core.fileMode=true",
  "core.symlinks=true",
  "core.ignoreCase=false",
  "core.precomposeUnicode=false",
  "core.protectNTFS=false",
  "core.protectHFS=false",
  "core.quotePath=false",
  "core.splitIndex=false",
  "core.logAllRefUpdates=false",
  // After a power cut a snapshot may be incomplete; every object is checked when it is read.
  "core.fsync=none",
  "core.looseCompression=1",
  "gc.auto=0",
  "maintenance.auto=false",
];

/** In a repository that nobody else writes to: a filter or line-end rule of the workspace never touches a byte. */
const attributes = "* -text -filter -ident !eol !working-tree-encoding\n";

/** git with a repository and an index of our own over somebody else's working tree. */
export class ShadowGit {
  readonly directory: string;
  readonly root: string;

  /** @param directory private; made by `prepare` */
  constructor(directory: string, root: string) {
    this.directory = directory;
    this.root = root;
  }

  get index(): string {
    return join(this.directory, "index");
  }

  /** Makes the repository, also over one whose making broke off. Rejects with `CheckpointError`. */
  async prepare(): Promise<void> {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    await this.run(["init", "--quiet", "--template="]);
    mkdirSync(join(this.directory, "info"), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.directory, "info", "attributes"), attributes, { mode: 0o600 });
  }

  /** Of a git that was killed. Only under the lock: nobody else writes here then. */
  removeStaleLocks(): void {
    for (const name of ["index", "config", "HEAD", "packed-refs"]) {
      rmSync(join(this.directory, `${name}.lock`), { force: true });
    }
  }

  /** Standard output. Rejects with `CheckpointError` `git_missing` or `git_failed`, or with the signal's reason. */
  run(args: readonly string[], options: ShadowRun = {}): Promise<Buffer> {
    const { input, signal } = options;
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const flags = [...settings, ...(options.settings ?? [])].flatMap((setting) => ["-c", setting]);
      const child = spawn("git", ["--no-pager", "--literal-pathspecs", ...flags, ...args], {
        cwd: this.directory,
        env: this.#environment(options),
        stdio: ["pipe", "pipe", "pipe"],
        ...(signal === undefined ? {} : { signal }),
      });
      const output: Buffer[] = [];
      let size = 0;
      let errors = "";
      child.stdout.on("data", (bytes: Buffer) => {
        size += bytes.length;
        if (size > maxOutput) child.kill("SIGKILL");
        else output.push(bytes);
      });
      child.stderr.on("data", (bytes: Buffer) => {
        if (errors.length < 2_000) errors += bytes.toString("utf8");
      });
      child.on("error", (error) => {
        // One that was stopped is gone when it has closed: until then it may still write.
        if (child.pid !== undefined) return;
        if (hasCode(error, "ENOENT")) reject(gitMissing(error));
        else reject(new CheckpointError("git_failed", `git could not be started: ${error.message}`, { cause: error }));
      });
      // A git that hangs, or something it started, does not end when it is asked to.
      const force = (): void => {
        forcing = setTimeout(() => {
          child.kill("SIGKILL");
          for (const stream of child.stdio) stream?.destroy();
        }, forceMs);
      };
      let forcing: NodeJS.Timeout | undefined;
      signal?.addEventListener("abort", force, { once: true });
      child.on("close", (code) => {
        clearTimeout(forcing);
        signal?.removeEventListener("abort", force);
        if (code === 0) resolve(Buffer.concat(output));
        else if (signal?.aborted === true) reject(signal.reason);
        else reject(new CheckpointError("git_failed", `git ${args[0] ?? ""} failed: ${errors.trim().slice(0, 500)}`));
      });
      // Where git ended early, its exit code says more than a broken pipe.
      child.stdin.on("error", () => undefined);
      child.stdin.end(input ?? "");
    });
  }

  #environment(options: ShadowRun): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
    return {
      ...Object.fromEntries(kept),
      HOME: this.directory,
      XDG_CONFIG_HOME: this.directory,
      GIT_DIR: this.directory,
      GIT_WORK_TREE: options.workTree ?? this.root,
      GIT_INDEX_FILE: options.index ?? this.index,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
    };
  }
}

function gitMissing(cause: unknown): CheckpointError {
  return new CheckpointError("git_missing", "git is not installed, so what a command changes cannot be taken back.", {
    cause,
  });
}
