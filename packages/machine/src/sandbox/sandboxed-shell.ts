import { lstatSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { type Covered, TreeCover } from "./cover/tree-cover.ts";
import { UnprotectedWorkspace } from "./cover/unprotected-workspace.ts";
import { type HostLayout, isWithin } from "./host/host-layout.ts";
import { type RepositoryPaths, repositoryPaths } from "./host/repository-paths.ts";
import { limitedShell } from "./limited-shell.ts";
import { type BubblewrapFeatures, bubblewrapArguments } from "./mounts/bubblewrap-arguments.ts";
import { takeControlMounts } from "./mounts/control-mounts.ts";
import type { MountPoints } from "./mounts/mount-points.ts";
import type { SandboxFiles } from "./sandbox-files.ts";

/** A shell command that is ready to start in the sandbox. */
export interface SandboxedCommand {
  /** Program (absolute) and its arguments. */
  readonly argv: readonly string[];
  /** File to open as descriptor 3. */
  readonly opens: string | undefined;
  /** Paths of the workspace that the command cannot change. */
  readonly untouchable: readonly string[];
  /**
   * Call it when the command has ended; a second call does nothing. Returns notes for readers of its output, e.g. what it created
   * and was removed.
   */
  finish(): readonly string[];
}

export interface SandboxedCommandOptions {
  /** Real path. */
  readonly workspaceRoot: string;
  readonly cwd: string;
  /** True if the command certainly only reads: it gets the workspace read-only. */
  readonly readsOnly: boolean;
}

/** Prepares shell commands for this machine's sandbox. */
export class ShellSandbox {
  readonly #options: ShellSandboxOptions;
  readonly #trees = new Map<string, TreeCover>();

  constructor(options: ShellSandboxOptions) {
    this.#options = options;
  }

  /**
   * Throws `ToolFailure` `sandbox_unavailable` if the workspace in its present state cannot be protected; the command must not
   * run without the sandbox.
   */
  prepare(command: string, options: SandboxedCommandOptions): SandboxedCommand {
    const { program, features, layout, place, mountPoints } = this.#options;
    const { workspaceRoot, cwd, readsOnly } = options;
    try {
      refuseUnsafeRoot(workspaceRoot, layout);
      const repository = repositoryPaths(workspaceRoot, layout.home);
      const { zeroAccess, kept, linkedOutside } = this.#look(visibleTrees(workspaceRoot, repository));
      const control = readsOnly ? undefined : takeControlMounts(workspaceRoot, repository, mountPoints);
      const view = {
        layout,
        workspaceRoot,
        control,
        zeroAccess,
        cwd,
        kept: readsOnly ? [] : kept.filter((path) => isWithin(path, workspaceRoot)),
        linkedOutside: readsOnly ? [] : linkedOutside,
        repository: {
          surroundings:
            repository === undefined || repository.workTree === workspaceRoot ? undefined : repository.workTree,
          data: repository?.writable ?? [],
          exclude: this.#exclude(repository, [...(control?.absentFiles ?? []), ...zeroAccess]),
        },
        temporary: place.temporaryFor(workspaceIdOf(workspaceRoot).slice(0, 16)),
        empty: place.empty,
      };
      return {
        argv: [program, ...bubblewrapArguments(view, features), ...limitedShell(command)],
        opens: features.filter,
        untouchable: [
          ...(control?.readOnly ?? []),
          ...(control?.absentDirectories ?? []),
          ...(control?.absentFiles ?? []),
        ],
        finish: () =>
          (control?.release() ?? []).map((path) => `[removed: ${path}, which would have changed what git runs]`),
      };
    } catch (error) {
      const reason = errorMessage(error);
      throw new ToolFailure(
        "sandbox_unavailable",
        `The sandbox could not be prepared, so the command did not run: ${reason}`,
        {
          failureClass: "tool_unavailable",
          hint: "Tell the user; commands never run outside the sandbox instead.",
          cause: error,
        },
      );
    }
  }

  /** What a workspace's staged command sees of this machine. Throws `UnprotectedWorkspace`. */
  machineFor(workspaceRoot: string): ShellMachine {
    const { program, features, layout, place } = this.#options;
    refuseUnsafeRoot(workspaceRoot, layout);
    const temporary = place.temporaryFor(workspaceIdOf(workspaceRoot).slice(0, 16));
    const fileOf = (content: string | Uint8Array): string => place.fileOf(content);
    return { bubblewrap: program, features, layout, temporary, empty: place.empty, fileOf };
  }

  /** Git's ignore patterns with the covered files added: git would report them as changed, and `git add` would fail on them. */
  #exclude(repository: RepositoryPaths | undefined, covered: readonly string[]) {
    if (repository === undefined || covered.length === 0) return undefined;
    const { excludeFile: file, workTree } = repository;
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const lines = covered
      .filter((path) => isWithin(path, workTree) && !path.includes("\n"))
      .map((path) => `/${relative(workTree, path).replace(/[\\*?[\]!# ]/g, "\\$&")}\n`);
    return { file, contents: this.#options.place.fileOf(`${readFileSync(file, "utf8")}\n${lines.join("")}`) };
  }

  #look(roots: readonly string[]): Covered {
    const covered = roots.map((root) => {
      const tree =
        this.#trees.get(root) ??
        new TreeCover(root, { targets: join(this.#options.secretTargets, workspaceIdOf(root).slice(0, 16)) });
      this.#trees.set(root, tree);
      return tree.look();
    });
    return {
      zeroAccess: covered.flatMap(({ zeroAccess }) => zeroAccess),
      kept: covered.flatMap(({ kept }) => kept),
      linkedOutside: covered.flatMap(({ linkedOutside }) => linkedOutside),
    };
  }
}

/** The user's directories that the command sees: the work tree around the workspace, and git's data if that is elsewhere. */
function visibleTrees(workspaceRoot: string, repository: RepositoryPaths | undefined): readonly string[] {
  const workTree = repository?.workTree ?? workspaceRoot;
  const elsewhere = (repository?.writable ?? []).filter((path) => !isWithin(path, workTree));
  return [workTree, ...elsewhere.filter((path) => !elsewhere.some((one) => one !== path && isWithin(path, one)))];
}

export interface ShellSandboxOptions {
  /** Absolute path of bubblewrap. */
  readonly program: string;
  readonly features: BubblewrapFeatures;
  readonly layout: HostLayout;
  readonly place: Omit<SandboxFiles, keyof Disposable>;
  readonly mountPoints: MountPoints;
  /** Private directory for the targets of links that are named as secrets, by tree. */
  readonly secretTargets: string;
}

/** What shell commands of a workspace see of this machine. */
export interface ShellMachine {
  /** Absolute path of bubblewrap. */
  readonly bubblewrap: string;
  readonly features: BubblewrapFeatures;
  readonly layout: HostLayout;
  /** Directory that a command sees as `/tmp`. */
  readonly temporary: string;
  /** An empty directory. */
  readonly empty: string;
  /** Path of a private file with this text, or these bytes; it exists as long as the server runs. */
  fileOf(content: string | Uint8Array): string;
}

/** Bubblewrap's message if it failed; then the command was not started. */
export function sandboxFailure(run: {
  readonly exitCode: number | undefined;
  readonly output: string;
}): string | undefined {
  return run.exitCode === 1 && /^bwrap: [^\n]+\n?$/.test(run.output) ? run.output.trim() : undefined;
}

function refuseUnsafeRoot(root: string, layout: HostLayout): void {
  if (root === "/") throw new UnprotectedWorkspace("the workspace is the root of all files.");
  const around = layout.hidden.find((path) => isWithin(root, path));
  if (around !== undefined)
    throw new UnprotectedWorkspace(`the workspace lies in ${around}, which commands must not see.`);
}
