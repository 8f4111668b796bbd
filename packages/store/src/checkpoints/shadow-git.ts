import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GitSettings } from "@gennai/git/run/git-settings";
import { GitMissingError } from "@gennai/git/run/machine-git";
import { type StartedGit, startGit } from "@gennai/git/run/start-git";
import { fileText } from "@gennai/machine/git-data/file-text";
import { replaceFileSync } from "@gennai/machine/replace-file";
import { errorMessage } from "@gennai/protocol/error-message";
import { CheckpointError } from "./checkpoint-error.ts";

interface ShadowRun {
  readonly input?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Absolute directory that git uses as working tree; by default the workspace. */
  readonly workTree?: string;
  /** Absolute path of an index; by default the shadow's own. */
  readonly index?: string;
  /** Further settings, `name=value`. */
  readonly settings?: readonly string[];
}

const maxHeadBytes = 4096;
/** Most bytes of one answer of git. */
const maxOutput = 1024 * 1024 * 1024;

/**
 * Prevents git from changing bytes, or using anyone's configuration. Any file name is allowed: names that other systems cannot
 * store must not cause a loss on this one.
 */
const settings: GitSettings = [
  ["core.bare", "false"],
  ["core.untrackedCache", "false"],
  ["core.autocrlf", "false"],
  ["core.safecrlf", "false"],
  ["core.excludesFile", "/dev/null"],
  ["core.fileMode", "true"],
  ["core.symlinks", "true"],
  ["core.ignoreCase", "false"],
  ["core.precomposeUnicode", "false"],
  ["core.protectNTFS", "false"],
  ["core.protectHFS", "false"],
  ["core.quotePath", "false"],
  ["core.splitIndex", "false"],
  ["core.logAllRefUpdates", "false"],
  // After a power cut a snapshot may be incomplete; every object is checked when it is read.
  ["core.fsync", "none"],
  ["core.looseCompression", "1"],
];

/** Set in a repository that nobody else writes to, so that no filter or line-end rule of the workspace changes a byte. */
const attributes = "* -text -filter -ident !eol !working-tree-encoding\n";

/** Runs git with a repository and an index of our own over the user's working tree. */
export class ShadowGit {
  readonly directory: string;
  readonly root: string;

  /** @param directory private; created by `prepare` */
  constructor(directory: string, root: string) {
    this.directory = directory;
    this.root = root;
  }

  get index(): string {
    return join(this.directory, "index");
  }

  /**
   * Creates the repository, or completes an interrupted creation. Git needs no more than this, and `git init` takes the time of
   * starting it. HEAD comes last: it shows that the rest exists.
   */
  prepare(): void {
    for (const path of ["objects", "refs", "info"]) {
      mkdirSync(join(this.directory, path), { recursive: true, mode: 0o700 });
    }
    writeFileSync(join(this.directory, "info", "attributes"), attributes, { mode: 0o600 });
    const head = join(this.directory, "HEAD");
    // After a power cut it may be empty.
    if (fileText(head, maxHeadBytes)?.startsWith("ref: refs/") === true) return;
    replaceFileSync(head, "ref: refs/heads/main\n");
  }

  /** Removes lock files of a killed git. The caller holds the lock, so that nobody else writes here. */
  removeStaleLocks(): void {
    for (const name of ["index", "config", "HEAD", "packed-refs"]) {
      rmSync(join(this.directory, `${name}.lock`), { force: true });
    }
  }

  /** Standard output. Rejects with `CheckpointError` `git_missing` or `git_failed`, or with the signal's reason. */
  async run(args: readonly string[], options: ShadowRun = {}): Promise<Buffer> {
    const { input, signal } = options;
    signal?.throwIfAborted();
    const running = await this.#start(args, options);
    signal?.addEventListener("abort", running.kill, { once: true });
    // The signal may have aborted while git was searched.
    if (signal?.aborted === true) running.kill();
    try {
      const output: Buffer[] = [];
      let size = 0;
      running.stdout.on("data", (bytes: Buffer) => {
        size += bytes.length;
        if (size > maxOutput) running.kill();
        else output.push(bytes);
      });
      running.stdin.end(input ?? "");
      // Waits for a stopped git as well, because until its end it may still write.
      const { code, errors } = await running.ended;
      if (code === 0) return Buffer.concat(output);
      signal?.throwIfAborted();
      throw new CheckpointError("git_failed", `git ${args[0] ?? ""} failed: ${errors.trim().slice(0, 500)}`);
    } catch (error) {
      if (error instanceof CheckpointError || signal?.aborted === true) throw error;
      throw notStarted(error);
    } finally {
      signal?.removeEventListener("abort", running.kill);
    }
  }

  async #start(args: readonly string[], options: ShadowRun): Promise<StartedGit> {
    const workTree = options.workTree ?? this.root;
    const flags = (options.settings ?? []).map((setting) => ["-c", setting]).flat();
    try {
      return await startGit(["--literal-pathspecs", ...flags, ...args], {
        cwd: this.directory,
        // Where it is gone, what is kept of it can still be forgotten.
        readable: existsSync(this.root) ? [this.root] : [],
        writable: [this.directory],
        workTree: undefined,
        environment: {
          HOME: this.directory,
          XDG_CONFIG_HOME: this.directory,
          GIT_DIR: this.directory,
          GIT_WORK_TREE: workTree,
          GIT_INDEX_FILE: options.index ?? this.index,
          GIT_CONFIG_GLOBAL: "/dev/null",
        },
        settings,
        repository: "our-own",
        // Settings, attributes, objects and index are ours; of the workspace it reads names, bytes and ignore rules.
        sandbox: false,
      });
    } catch (error) {
      throw notStarted(error);
    }
  }
}

function notStarted(cause: unknown): CheckpointError {
  if (cause instanceof GitMissingError) {
    return new CheckpointError("git_missing", `What a command changes cannot be undone: ${cause.message}`, {
      cause,
    });
  }
  return new CheckpointError("git_failed", `git could not be started: ${errorMessage(cause)}`, { cause });
}
