import { mkdirSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientControlFile, ClientHead } from "@gennai/protocol/model/session/client-workspace";
import pLimit from "p-limit";
import type { ControlSnapshot, WorkspaceChannel } from "../bridge/workspace-answer.ts";
import { repositoryInstructions } from "../prompt/load-skills.ts";
import { projectNoteFiles, projectNotePaths } from "../prompt/project-notes.ts";
import { isNormal } from "./check-resolved.ts";

const maxFiles = 2_000;
/** Maximum of all mirrored files together. */
const maxBytes = 12 * 1024 * 1024;

/**
 * A mirror of the files that steer the agent (rules, configuration, intents, notes, scenarios, git's HEAD) from the client that
 * holds the workspace, in a private directory, so that other code reads them as in a local workspace. They cannot be read
 * before the first fetch, and must be fetched again before a change: without the project's rules, nothing runs.
 */
export class ControlMirror {
  readonly #directory: string;
  readonly #now: () => number;
  #snapshot: ControlSnapshot | undefined;
  readonly #inOrder = pLimit(1);
  #syncedAt = Number.NEGATIVE_INFINITY;

  /** @param directory absolute; no other process writes to it */
  constructor(directory: string, now: () => number) {
    this.#directory = directory;
    this.#now = now;
  }

  /** Throws `ToolFailure` `workspace_unreachable` before the first `sync`. */
  get directory(): string {
    if (this.#snapshot !== undefined) return this.#directory;
    throw new ToolFailure("workspace_unreachable", "The rules of this workspace were not read yet.", {
      failureClass: "permission_denied",
      hint: "Open the session where its files are.",
      retryable: true,
    });
  }

  /** The branch of HEAD at the last fetch; undefined if there is none. */
  get branch(): string | undefined {
    return this.#snapshot?.git?.branch || undefined;
  }

  /**
   * Fetches what changed. Throws what the channel throws, and `client_error` for an invalid answer; the mirror is then
   * unchanged or incomplete, and the next call starts again.
   * @param options.maxAgeMs a fetch not older than this is sufficient
   */
  sync(
    channel: WorkspaceChannel,
    options: {
      readonly workedOn?: Iterable<string> | undefined;
      readonly maxAgeMs?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<void> {
    // One at a time, and never share a fetch that started before this call.
    return this.#inOrder(async () => {
      if (this.#now() - this.#syncedAt <= (options.maxAgeMs ?? -1)) return;
      await this.#sync(channel, options.workedOn ?? [], options.signal);
      this.#syncedAt = this.#now();
    });
  }

  async #sync(channel: WorkspaceChannel, workedOn: Iterable<string>, signal: AbortSignal | undefined): Promise<void> {
    const wanted = mirroredFiles(workedOn);
    const { control } = await channel.ask<"control">(
      { type: "control", ...wanted, knownDigest: this.#snapshot?.digest ?? "" },
      { signal },
    );
    if (control === "unchanged") {
      if (this.#snapshot === undefined)
        throw impossibleAnswer("nothing was sent yet, and it says that nothing changed");
      return;
    }
    checkFiles(control.files, wanted);
    const all = [...control.files, ...gitFiles(control.git)];
    // Invalid until everything is written.
    const known = this.#snapshot;
    this.#snapshot = undefined;
    await this.#write(all, known);
    this.#snapshot = control;
  }

  async #write(files: readonly ClientControlFile[], known: ControlSnapshot | undefined): Promise<void> {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const wanted = new Set(files.map(({ path }) => path));
    await this.#removeOthers("", wanted);
    const before = new Map([...(known?.files ?? []), ...gitFiles(known?.git)].map((file) => [file.path, file]));
    for (const file of files) {
      const old = before.get(file.path);
      if (old !== undefined && old.problem === file.problem && Buffer.compare(old.bytes, file.bytes) === 0) continue;
      await this.#place(file);
    }
  }

  async #place({ path, bytes, problem }: ClientControlFile): Promise<void> {
    const target = join(this.#directory, path);
    await rm(target, { recursive: true, force: true });
    if (problem !== "") {
      // Readers then find no regular file, and fail as for any unusable file.
      await mkdir(target, { recursive: true, mode: 0o700 });
      return;
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    // Concurrent readers get the old file or the new one.
    const temporary = join(this.#directory, ".new");
    await writeFile(temporary, bytes, { mode: 0o600 });
    await rename(temporary, target);
  }

  async #removeOthers(directory: string, wanted: ReadonlySet<string>): Promise<void> {
    for (const entry of await readdir(join(this.#directory, directory), { withFileTypes: true })) {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (wanted.has(path)) continue;
      const leadsTo = [...wanted].some((file) => file.startsWith(`${path}/`));
      if (entry.isDirectory() && leadsTo) await this.#removeOthers(path, wanted);
      else await rm(join(this.#directory, path), { recursive: true, force: true });
    }
  }
}

function checkFiles(files: readonly ClientControlFile[], wanted: ReturnType<typeof mirroredFiles>): void {
  const seen = new Set<string>();
  let bytes = 0;
  for (const file of files) {
    const { path } = file;
    const asked = wanted.files.includes(path) || wanted.directories.some((each) => path.startsWith(`${each}/`));
    if (!asked || !isNormal(`/${path}`) || /\p{Cc}/u.test(path) || seen.has(path)) {
      throw impossibleAnswer(`it sent ${JSON.stringify(path.slice(0, 100))}, which was not asked for`);
    }
    seen.add(path);
    bytes += file.bytes.length;
  }
  for (const path of seen) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (seen.has(path.slice(0, end))) throw impossibleAnswer(`${path} lies below a file`);
    }
  }
  if (seen.size <= maxFiles && bytes <= maxBytes) return;
  throw new ToolFailure("too_large", "The files that steer the agent in this workspace are too many or too large.", {
    hint: `At most ${maxFiles} files and ${maxBytes / 1024 / 1024} MiB of rules, notes and skills are sent to the server.`,
  });
}

export function impossibleAnswer(what: string): ToolFailure {
  return new ToolFailure("client_error", `The client that holds the files gave an impossible answer: ${what}.`);
}

/** Maximum directories whose own notes are fetched. */
const maxNoteDirectories = 50;

/** Files that steer the agent or define the project's check, by the names under which the server looks for them. */
const files: readonly string[] = [
  ...projectNotePaths,
  ".intentignore",
  ".orchestration/active_intents.yaml",
  ".pi/damage-control-rules.yaml",
  ...["package.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "tsconfig.json"],
  ...["Cargo.toml", "go.mod", "ruff.toml", "pyproject.toml"],
];

/** Including everything below them. */
const directories: readonly string[] = [
  ".gennai",
  ...repositoryInstructions.filter((place) => !place.startsWith(".gennai/")),
];

/** What a turn needs to know of a workspace. @param workedOn files whose directories may have their own notes */
function mirroredFiles(workedOn: Iterable<string>): {
  readonly files: readonly string[];
  readonly directories: readonly string[];
} {
  const above = new Set<string>();
  for (const file of workedOn) {
    const names = file.split("/").slice(0, -1);
    for (const index of names.keys()) above.add(names.slice(0, index + 1).join("/"));
  }
  const notes = [...above]
    .sort()
    .slice(0, maxNoteDirectories)
    .flatMap((directory) => projectNoteFiles.map((name) => `${directory}/${name}`));
  return { files: [...files, ...notes], directories };
}

const encoder = new TextEncoder();

/**
 * A client's repository state as the few files that `readGitHead` and `hooksDirectory` read. There is always a `.git`, so that
 * no one is searched in the server's parent directories. Throws `client_error`.
 */
function gitFiles(git: ClientHead | undefined): readonly ClientControlFile[] {
  if (git === undefined) return [file(".git/none", "")];
  const { branch, commit, remoteDefault, hooksPath } = git;
  if (commit !== "" && !objectId.test(commit)) throw impossible("a commit");
  for (const name of [branch, remoteDefault]) if (name !== "" && !isBranchName(name)) throw impossible("a branch");
  if (/[\p{Cc}"]/u.test(hooksPath)) throw impossible("the directory of hooks");
  const head = branch === "" ? commit : `ref: refs/heads/${branch}`;
  return [
    file(".git/HEAD", head),
    ...(branch === "" || commit === "" ? [] : [file(`.git/refs/heads/${branch}`, commit)]),
    ...(remoteDefault === ""
      ? []
      : [file(".git/refs/remotes/origin/HEAD", `ref: refs/remotes/origin/${remoteDefault}`)]),
    ...(hooksPath === ""
      ? []
      : [file(".git/config", `[core]\n\thooksPath = "${hooksPath.replaceAll("\\", "\\\\")}"\n`)]),
  ];
}

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A valid branch name for git whose path is below `refs/heads`. */
function isBranchName(name: string): boolean {
  const forbidden = /\.\.|\/\/|[\p{Cc}\s~^:?*[\\]|^[-/.]|[/.]$|\.lock(?:\/|$)|\/\.|@\{/u;
  return name.length <= 250 && !forbidden.test(name);
}

function file(path: string, text: string): ClientControlFile {
  return { path, bytes: encoder.encode(text), problem: "" };
}

function impossible(what: string): ToolFailure {
  return new ToolFailure("client_error", `The client that holds the files named ${what} that cannot be.`);
}
