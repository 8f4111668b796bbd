import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import { sha256Hex } from "@gennai/protocol/digest";
import {
  type ChangedFile,
  type ClientControl,
  type ClientControlFile,
  type ClientFileChange,
  type ClientFileContent,
  type ClientFileStat,
  type ClientPath,
  type ClientSearch,
  ClientWorkspaceError,
  type ClientWorkspaceFacts,
} from "@gennai/protocol/model/session/client-workspace";
import ignore from "ignore";
import pLimit from "p-limit";
import { changeFiles } from "./client-changes.ts";
import { refuseLinks, resolveHeldPath } from "./client-path-resolution.ts";
import { findFiles, searchFiles } from "./client-search.ts";
import type { FolderFiles } from "./folder-files.ts";

const maxControlBytes = 1024 * 1024;
const maxControlFiles = 2_000;

/**
 * A folder of this window, held for a server that cannot reach it. It runs no commands: those for a terminal are separate
 * requests, if there is a terminal.
 */
export class ClientFolder implements ClientWorkspacePort {
  readonly facts: ClientWorkspaceFacts;
  readonly #files: FolderFiles;
  /** Makes sets of changes one after the other, so that none is based on what another is about to write. */
  readonly #inOrder = pLimit(1);

  constructor(files: FolderFiles, facts: ClientWorkspaceFacts) {
    this.#files = files;
    this.facts = facts;
  }

  resolve(raw: string): Promise<ClientPath> {
    return resolveHeldPath(this.#files, this.facts.root, raw);
  }

  async stat(path: string): Promise<ClientFileStat | undefined> {
    const found = await this.#files.stat(path);
    return found && { kind: found.kind, size: found.size, mode: 0 };
  }

  async read(path: string, options: { readonly maxBytes: number }): Promise<ClientFileContent> {
    await refuseLinks(this.#files, path);
    const found = await this.#files.stat(path);
    if (found === undefined) throw new ClientWorkspaceError("not_found", `There is no ${path}.`);
    if (found.kind !== "file") throw new ClientWorkspaceError("not_a_file", `${path} is not a regular file.`);
    if (found.size > options.maxBytes) throw tooLarge(path, options.maxBytes);
    const bytes = await this.#files.read(path);
    if (bytes.length > options.maxBytes) throw tooLarge(path, options.maxBytes);
    return { bytes, sha256: sha256Hex(bytes) };
  }

  async list(path: string, options: { readonly ignore: readonly string[]; readonly limit: number }) {
    await refuseLinks(this.#files, path);
    if ((await this.#files.stat(path))?.kind !== "directory") {
      throw new ClientWorkspaceError("not_found", `There is no directory ${path === "" ? "." : path}.`);
    }
    const hidden = ignore({ ignorecase: true }).add([...options.ignore]);
    const kept = (await this.#files.entries(path))
      .filter(({ name, kind }) => {
        const full = path === "" ? name : `${path}/${name}`;
        return !hidden.ignores(kind === "directory" ? `${full}/` : full);
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return { entries: kept.slice(0, options.limit), truncated: kept.length > options.limit };
  }

  find(request: Parameters<ClientWorkspacePort["find"]>[0], { signal }: { readonly signal: AbortSignal }) {
    return findFiles(this.#files, request, signal);
  }

  search(request: ClientSearch, { signal }: { readonly signal: AbortSignal }) {
    return searchFiles(this.#files, request, signal);
  }

  async change(request: {
    readonly changes: readonly ClientFileChange[];
    readonly branch: string;
  }): Promise<readonly ChangedFile[]> {
    return this.#inOrder(async () => {
      const head = await readGitPlace(this.#files);
      if (request.branch !== "" && head?.branch !== request.branch) {
        throw new ClientWorkspaceError("branch_moved", `HEAD is not on ${request.branch} any more.`, {
          failureClass: "permission_denied",
        });
      }
      return changeFiles(this.#files, request.changes);
    });
  }

  async readControl(wanted: {
    readonly files: readonly string[];
    readonly directories: readonly string[];
  }): Promise<ClientControl> {
    const found = new Map<string, ClientControlFile>();
    for (const path of wanted.files) await this.#addControl(path, found);
    for (const path of wanted.directories) await this.#addBelow(path, found);
    const files = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, git: await readGitPlace(this.#files) };
  }

  async #addBelow(path: string, found: Map<string, ClientControlFile>): Promise<void> {
    const kind = (await this.#files.stat(path))?.kind;
    if (kind !== "directory") return this.#addControl(path, found);
    for (const { name } of await this.#files.entries(path)) await this.#addBelow(`${path}/${name}`, found);
  }

  /** A file that exists but cannot be used is added with the reason: a configured rule must never be ignored. */
  async #addControl(path: string, found: Map<string, ClientControlFile>): Promise<void> {
    const add = (bytes: Uint8Array, problem: string): void => void found.set(path, { path, bytes, problem });
    try {
      await refuseLinks(this.#files, path);
    } catch (error) {
      if (error instanceof ClientWorkspaceError) return add(new Uint8Array(), error.message);
      throw error;
    }
    const stat = await this.#files.stat(path);
    if (stat === undefined) return;
    if (found.size >= maxControlFiles) {
      throw new ClientWorkspaceError("too_large", `There are more than ${maxControlFiles} files that steer the agent.`);
    }
    if (stat.kind !== "file") add(new Uint8Array(), "is no regular file");
    else if (stat.size > maxControlBytes) add(new Uint8Array(), `is larger than ${maxControlBytes / 1024} KiB`);
    else add(await this.#files.read(path), "");
  }
}

function tooLarge(path: string, maxBytes: number): ClientWorkspaceError {
  return new ClientWorkspaceError("too_large", `${path} is larger than ${maxBytes} bytes.`, {
    hint: "Search it instead.",
  });
}

const maxBytes = 16 * 1024 * 1024;
const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Branch and commit of HEAD, read from git's own small files. undefined if the folder is not the top of a repository, as for a
 * working tree whose git directory is elsewhere.
 */
async function readGitPlace(files: FolderFiles): Promise<ClientControl["git"]> {
  const head = await text(files, ".git/HEAD");
  if (head === undefined) return undefined;
  const remote = await text(files, ".git/refs/remotes/origin/HEAD");
  const remoteDefault = /^ref: refs\/remotes\/origin\/(\S+)$/.exec(remote ?? "")?.[1] ?? "";
  const hooksPath = await configuredHooks(files);
  if (objectId.test(head)) return { branch: "", commit: head, remoteDefault, hooksPath };
  const branch = /^ref: refs\/heads\/(\S+)$/.exec(head)?.[1];
  if (branch === undefined || branch.split("/").some((name) => name === "" || name.startsWith("."))) return undefined;
  return { branch, commit: await commitOf(files, `refs/heads/${branch}`), remoteDefault, hooksPath };
}

async function commitOf(files: FolderFiles, ref: string): Promise<string> {
  const loose = await text(files, `.git/${ref}`);
  if (loose !== undefined && objectId.test(loose)) return loose;
  const packed = await text(files, ".git/packed-refs");
  const line = packed?.split("\n").find((each) => each.endsWith(` ${ref}`));
  return line === undefined ? "" : line.slice(0, line.indexOf(" "));
}

async function configuredHooks(files: FolderFiles): Promise<string> {
  let section = "";
  let found = "";
  for (const line of ((await text(files, ".git/config")) ?? "").split("\n")) {
    const heading = /^\s*\[\s*([\w.-]+)\s*("?)/.exec(line);
    if (heading !== null) section = heading[2] === "" ? (heading[1] ?? "").toLowerCase() : "";
    const value = section === "core" ? /\bhookspath\s*=\s*(.*?)\s*$/i.exec(line)?.[1] : undefined;
    if (value !== undefined && value !== "") found = value.replace(/^"(.*)"$/, "$1");
  }
  return found;
}

async function text(files: FolderFiles, path: string): Promise<string | undefined> {
  const found = await files.stat(path);
  if (found?.kind !== "file" || found.size > maxBytes) return undefined;
  return new TextDecoder().decode(await files.read(path)).trim();
}
