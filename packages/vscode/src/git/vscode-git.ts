import * as vscode from "vscode";
import { reasonOf } from "../editor/editor-error.ts";
import type { GitExtensionApi, GitExtensionExports, GitExtensionRepository } from "./git-extension-api.ts";
import type { Git, GitFinding, GitRepository, RepositoryState } from "./git-port.ts";
import { type GitProgram, gitProgram } from "./git-program.ts";

/** Milliseconds that the Git extension has to find repositories after its start. */
const timeoutMs = 10_000;

/** Git by the editor's own extension, so that Source Control shows the same state. */
export class VsCodeGit implements Git {
  async find(directory: string): Promise<GitFinding> {
    const api = await gitApi();
    if (typeof api === "string") return { type: "no-git", reason: api };
    const repository = await repositoryOf(api, vscode.Uri.file(directory));
    return repository === null
      ? { type: "no-repository" }
      : { type: "repository", repository: new VsCodeRepository(repository) };
  }

  async init(directory: string): Promise<GitRepository> {
    const api = await gitApi();
    if (typeof api === "string") throw new Error(api);
    const uri = vscode.Uri.file(directory);
    // For a folder outside of the window, the extension makes a repository but does not return it.
    const repository = (await api.init(uri)) ?? api.getRepository(uri) ?? (await api.openRepository(uri));
    if (repository === null) throw new Error("git made no repository.");
    return new VsCodeRepository(repository);
  }
}

/** The repository of a folder, from the Git extension; if there is none, a text that says why. */
export async function gitRepository(folder: vscode.Uri): Promise<GitExtensionRepository | string> {
  const api = await gitApi();
  if (typeof api === "string") return api;
  return (await repositoryOf(api, folder)) ?? "the folder is not a git repository, and lies in none.";
}

/** The editor's own git in a folder. Rejects if there is none. */
export async function editorsGit(directory: string): Promise<GitProgram> {
  const api = await gitApi();
  if (typeof api === "string") throw new Error(`There is no git: ${api}`);
  return gitProgram(api.git.path, directory);
}

async function repositoryOf(api: GitExtensionApi, uri: vscode.Uri): Promise<GitExtensionRepository | null> {
  return api.getRepository(uri) ?? (await api.openRepository(uri).catch(() => null));
}

export async function openSourceControl(): Promise<void> {
  await vscode.commands.executeCommand("workbench.view.scm");
}

class VsCodeRepository implements GitRepository {
  readonly #repository: GitExtensionRepository;

  constructor(repository: GitExtensionRepository) {
    this.#repository = repository;
  }

  get branch(): string | undefined {
    return this.#repository.state.HEAD?.name;
  }

  async state(): Promise<RepositoryState> {
    await this.#repository.status();
    const { indexChanges, workingTreeChanges, untrackedChanges, mergeChanges } = this.#repository.state;
    const changed = [...indexChanges, ...workingTreeChanges, ...(untrackedChanges ?? []), ...mergeChanges];
    return {
      branch: this.branch,
      changedFiles: new Set(changed.map(({ uri }) => uri.fsPath)).size,
      conflicts: mergeChanges.length,
    };
  }

  async hasBranch(name: string): Promise<boolean> {
    const branches = await this.#repository.getBranches({ remote: false });
    return branches.some((branch) => branch.name === name);
  }

  async createBranch(name: string): Promise<void> {
    await this.#repository.createBranch(name, true).catch(explain);
  }

  async switchTo(name: string): Promise<void> {
    await this.#repository.checkout(name).catch(explain);
  }

  onChange(listener: () => void): Disposable {
    const subscription = this.#repository.state.onDidChange(listener);
    return {
      [Symbol.dispose]: () => {
        subscription.dispose();
      },
    };
  }
}

/** Replaces the extension's error by git's own error text, if there is one. */
function explain(error: unknown): never {
  const stderr = error instanceof Error && "stderr" in error ? error.stderr : undefined;
  throw new Error(typeof stderr === "string" && stderr.trim() !== "" ? stderr.trim() : reasonOf(error), {
    cause: error,
  });
}

/** The API after it has found repositories; if there is none, a text that says why. */
async function gitApi(): Promise<GitExtensionApi | string> {
  const extension = vscode.extensions.getExtension<GitExtensionExports>("vscode.git");
  if (extension === undefined) return "the editor's Git extension is not there.";
  try {
    const exports = extension.isActive ? extension.exports : await extension.activate();
    if (!exports.enabled) return "git is turned off in the editor (git.enabled), or not installed.";
    const api = exports.getAPI(1);
    if (api.state === "uninitialized") await initialized(api);
    return api;
  } catch (error) {
    return reasonOf(error);
  }
}

async function initialized(api: GitExtensionApi): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = api.onDidChangeState((state) => {
    if (state === "initialized") resolve();
  });
  const timer = setTimeout(resolve, timeoutMs);
  await promise;
  clearTimeout(timer);
  listener.dispose();
}
