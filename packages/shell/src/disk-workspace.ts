import { homedir, platform } from "node:os";
import { basename, relative } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { startsNothing } from "@gennai/governance/command/only-reads";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { defaultRemoteBranch, readGitHead } from "@gennai/machine/git-data/git-head";
import { hooksDirectory } from "@gennai/machine/git-data/hooks-directory";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import { plainShell } from "@gennai/machine/process/plain-shell";
import { CommandNotStarted, holdDirectory } from "@gennai/machine/process/run-command";
import { type LocalWorkspace, openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { WorkspaceChange } from "@gennai/machine/workspace/workspace";
import { isWithin } from "@gennai/protocol/is-within";
import {
  type ChangedFile,
  type ClientCommand,
  type ClientCommandRun,
  type ClientControl,
  type ClientFileChange,
  type ClientFileContent,
  type ClientFileStat,
  type ClientFind,
  type ClientPath,
  type ClientSearch,
  ClientWorkspaceError,
  type ClientWorkspaceFacts,
} from "@gennai/protocol/model/session/client-workspace";
import { readControlFiles } from "./read-control-files.ts";
import { runShellCommand } from "./shell-runner.ts";

export interface DiskWorkspaceOptions {
  /** Real absolute path. */
  readonly root: string;
  /** The result of `heldWorkspaceId`. */
  readonly id: string;
  /** Private directory of this program, for the journals of changes. */
  readonly stateDir: string;
  /** Absolute paths that no server may read or change. */
  readonly ownDirectories: readonly string[];
  /** What each command may take of the machine; limits that are left out have their usual values. */
  readonly limits?: Partial<CommandLimits>;
  /** The environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
}

interface RequestOptions {
  readonly signal: AbortSignal;
}

/**
 * A directory of this machine, held for a server that cannot reach it: the same workspace that a server here would open. It is a
 * client's `ClientWorkspacePort`. Rejects with `ClientWorkspaceError` for expected failures.
 */
export class DiskWorkspace {
  readonly facts: ClientWorkspaceFacts;
  readonly #options: DiskWorkspaceOptions;
  readonly #files: LocalWorkspace;

  /** Throws `WorkspaceError` for a directory that cannot be a workspace. */
  constructor(options: DiskWorkspaceOptions) {
    const { root, id, stateDir } = options;
    this.#options = options;
    this.#files = openLocalWorkspace(root, { stateDir });
    this.facts = {
      id,
      root,
      home: homedir(),
      platform: platform(),
      commands: "unsandboxed",
      name: basename(root),
    };
  }

  resolve(raw: string): Promise<ClientPath> {
    return told(async () => {
      const { relative: path, absolute, inside } = await this.#files.resolve(raw);
      return { relative: path, absolute, inside };
    });
  }

  stat(path: string): Promise<ClientFileStat | undefined> {
    return told(() => this.#files.stat(this.#at(path)));
  }

  read(path: string, options: RequestOptions & { readonly maxBytes: number }): Promise<ClientFileContent> {
    return told(() => this.#files.read(this.#at(path), options));
  }

  list(path: string, options: { readonly ignore: readonly string[]; readonly limit: number }) {
    return told(() => this.#files.list(this.#at(path), options));
  }

  find({ pattern, base, limit, exclude }: ClientFind, options: RequestOptions) {
    const hidden = [...exclude, ...this.#ownGlobs()];
    return told(() => this.#files.glob(pattern, this.#at(base), { limit, exclude: hidden, ...options }));
  }

  search({ base, glob, exclude, ...query }: ClientSearch, options: RequestOptions) {
    const hidden = [...exclude, ...this.#ownGlobs()];
    const narrowed = { ...query, exclude: hidden, ...(glob === "" ? {} : { glob }) };
    return told(() => this.#files.search(narrowed, this.#at(base), options));
  }

  change(request: {
    readonly changes: readonly ClientFileChange[];
    readonly branch: string;
  }): Promise<readonly ChangedFile[]> {
    return told(async () => {
      this.#refuseOtherBranch(request.branch);
      const applied = await this.#files.apply(request.changes.map((change) => this.#changeOf(change)));
      return applied.map(({ before, afterSha256, beforeMode, madeDirectories }) => ({
        beforeSha256: before?.sha256,
        afterSha256,
        beforeMode,
        madeDirectories: madeDirectories ?? [],
      }));
    });
  }

  readControl(request: {
    readonly files: readonly string[];
    readonly directories: readonly string[];
  }): Promise<ClientControl> {
    return told(async () => {
      const files = await readControlFiles(this.#files, request);
      const { root } = this.#files;
      const head = readGitHead(root);
      if (head.type === "none") return { files, git: undefined };
      const hooks = hooksDirectory(root);
      return {
        files,
        git: {
          branch: head.type === "branch" ? head.branch : "",
          commit: head.commit ?? "",
          remoteDefault: defaultRemoteBranch(root) ?? "",
          hooksPath: hooks === undefined ? "" : hooks.startsWith(`${root}/`) ? relative(root, hooks) : hooks,
        },
      };
    });
  }

  run(
    request: ClientCommand,
    options: RequestOptions & { readonly onOutput: (text: string) => void },
  ): Promise<ClientCommandRun> {
    const { environment, limits = {} } = this.#options;
    return told(async () => {
      const cwd = this.#at(request.cwd);
      if ((await this.#files.stat(cwd))?.kind !== "directory") {
        throw new ToolFailure("bad_directory", `The command cannot run in ${request.cwd}: it is not a directory.`);
      }
      const { root } = this.#files;
      const analysis = analyseCommand(request.command, { cwd: cwd.absolute, home: homedir(), workspace: root });
      const command = {
        ...request,
        text: request.command,
        cwd: holdDirectory(cwd.absolute),
        startsNothing: request.readsOnly && startsNothing(analysis),
      };
      const run = await runShellCommand(command, { environment, limits, shellArguments: plainShell }, options);
      const { state, exceeded, signal, ...rest } = run;
      return { ...rest, end: state, exceeded: exceeded ?? "", signal: signal ?? "", notes: [] };
    });
  }

  /** A checked path for the workspace, which resolves it again and follows no link. */
  #at(path: string): WorkspacePath {
    const absolute = path === "" ? this.#files.root : `${this.#files.root}/${path}`;
    for (const own of this.#options.ownDirectories) {
      if (!isWithin(absolute, { directory: own })) continue;
      throw new ToolFailure("permission_denied", `${path} belongs to Gennai itself.`, {
        failureClass: "permission_denied",
      });
    }
    return { raw: path, relative: path, absolute, inside: true };
  }

  #ownGlobs(): readonly string[] {
    const { ownDirectories } = this.#options;
    const below = ownDirectories.filter((own) => own.startsWith(`${this.#files.root}/`));
    return below.map((own) => `${relative(this.#files.root, own)}/**`);
  }

  #changeOf({ path, bytes, baseSha256, mode, emptied }: ClientFileChange): WorkspaceChange {
    const at = this.#at(path);
    if (bytes === undefined) {
      return { operation: "delete", path: at, baseSha256, emptied: emptied.map((each) => this.#at(each).relative) };
    }
    const kept = mode === undefined ? {} : { mode };
    return baseSha256 === ""
      ? { operation: "create", path: at, bytes, ...kept }
      : { operation: "update", path: at, bytes, baseSha256, ...kept };
  }

  /** Reads HEAD again here, because the server's information may be a moment old. */
  #refuseOtherBranch(branch: string): void {
    if (branch === "") return;
    const head = readGitHead(this.#files.root);
    if (head.type === "branch" && head.branch === branch) return;
    throw new ToolFailure("branch_moved", `HEAD is not on ${branch} any more, so nothing was written.`, {
      failureClass: "permission_denied",
      hint: "Tell the user: a new turn begins on the branch that is there now.",
    });
  }
}

/** Turns failures of the workspace into errors for the server. */
async function told<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolFailure) {
      const { code, message, hint, failureClass, retryable } = error;
      const more = { failureClass, retryable, cause: error, hint };
      throw new ClientWorkspaceError(code, message, more);
    }
    if (error instanceof CommandNotStarted) {
      throw new ClientWorkspaceError(error.code, error.message, { cause: error, retryable: true });
    }
    throw error;
  }
}
