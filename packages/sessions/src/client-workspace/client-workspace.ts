import { createHash } from "node:crypto";
import type { FileRewrite } from "@gennai/agent/events/workspace-operation";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { insideOnly } from "@gennai/machine/workspace/paths/inside-only";
import { checkNewNames, checkPathSyntax } from "@gennai/machine/workspace/paths/path-syntax";
import type {
  AppliedChange,
  ApplyOptions,
  ClientSide,
  FileContent,
  FileStat,
  Listing,
  SearchQuery,
  SearchResult,
  Workspace,
  WorkspaceChange,
} from "@gennai/machine/workspace/workspace";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { RewrittenFile, WorkspaceChannel } from "../bridge/workspace-answer.ts";
import { checkResolved } from "./check-resolved.ts";
import type { ControlMirror } from "./control-mirror.ts";
import { impossibleAnswer } from "./control-mirror.ts";

/** Bytes of a file in one answer. */
const partBytes = 8 * 1024 * 1024;

export interface ClientWorkspaceOptions {
  readonly facts: ClientWorkspaceFacts;
  /** As named by `clientPlace`. */
  readonly place: string;
  readonly channel: WorkspaceChannel;
  /** Where the client fetches new contents from. */
  readonly blobs: BlobStore;
  readonly control: ControlMirror;
}

/**
 * A workspace whose files only a client can reach. This machine has only a mirror of the files that steer the agent. The
 * client's answers are validated.
 */
export class ClientWorkspace implements Workspace {
  readonly facts: ClientWorkspaceFacts;
  readonly place: string;
  readonly channel: WorkspaceChannel;
  readonly client: ClientSide;
  readonly #blobs: BlobStore;
  readonly #control: ControlMirror;

  constructor(options: ClientWorkspaceOptions) {
    this.facts = options.facts;
    this.place = options.place;
    this.channel = options.channel;
    this.#blobs = options.blobs;
    this.#control = options.control;
    const { home, platform, commands } = options.facts;
    this.client = { home, platform, commands, run: (command, running) => this.#run(command, running) };
  }

  get root(): string {
    return this.facts.root;
  }

  get controlRoot(): string {
    return this.#control.directory;
  }

  syncControl(options: Parameters<Workspace["syncControl"]>[0] = {}): Promise<void> {
    return this.#control.sync(this.channel, options);
  }

  async resolve(raw: string): Promise<WorkspacePath> {
    checkPathSyntax(raw);
    const { relative, absolute, inside } = await this.channel.ask<"resolve">({ type: "resolve", raw });
    const path = checkResolved(this.root, { raw, relative, absolute, inside });
    try {
      checkNewNames(raw, raw.split("/"), true);
    } catch (error) {
      if (!inside || (await this.stat(path)) === undefined) throw error;
    }
    return path;
  }

  async stat(path: WorkspacePath): Promise<FileStat | undefined> {
    const { relative } = insideOnly(path);
    const { kind, size, mode } = await this.channel.ask<"stat">({ type: "stat", path: relative });
    return kind === undefined ? undefined : { kind, size, mode };
  }

  async read(
    path: WorkspacePath,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<FileContent> {
    const { relative } = insideOnly(path);
    const { maxBytes, signal } = options;
    const parts: Uint8Array[] = [];
    let whole: { readonly sha256: string; readonly size: number } | undefined;
    for (let offset = 0; offset < (whole?.size ?? 1); ) {
      const part = await this.channel.ask<"read">(
        { type: "read", path: relative, maxBytes, offset, length: partBytes },
        { signal },
      );
      whole ??= part;
      if (part.sha256 !== whole.sha256 || part.size !== whole.size) throw changedMeanwhile(relative);
      if (part.size > maxBytes) throw new ToolFailure("too_large", `${relative} is larger than ${maxBytes} bytes.`);
      if (part.bytes.length === 0 && offset < part.size) throw impossibleAnswer(`it sent no more of ${relative}`);
      parts.push(part.bytes);
      offset += part.bytes.length;
    }
    const bytes = Buffer.concat(parts);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (sha256 !== whole?.sha256) throw impossibleAnswer(`the content of ${relative} differs from what it announced`);
    return { bytes, sha256 };
  }

  async list(
    path: WorkspacePath,
    options: { readonly ignore: readonly string[]; readonly limit: number },
  ): Promise<Listing> {
    const { relative } = insideOnly(path);
    const { entries, truncated } = await this.channel.ask<"list">({ type: "list", path: relative, ...options });
    return { entries: entries.slice(0, options.limit), truncated: truncated || entries.length > options.limit };
  }

  async glob(
    pattern: string,
    base: WorkspacePath,
    options: { readonly limit: number; readonly exclude?: readonly string[]; readonly signal: AbortSignal },
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
    const { relative } = insideOnly(base);
    const { limit, exclude = [], signal } = options;
    const found = await this.channel.ask<"find">({ type: "find", pattern, base: relative, limit, exclude }, { signal });
    return { paths: found.paths.slice(0, limit), truncated: found.truncated || found.paths.length > limit };
  }

  async search(
    query: SearchQuery,
    base: WorkspacePath,
    options: { readonly signal: AbortSignal },
  ): Promise<SearchResult> {
    const { relative } = insideOnly(base);
    const { lines, truncated } = await this.channel.ask<"search">(
      { type: "search", base: relative, glob: "", ...query },
      options,
    );
    return { lines, truncated };
  }

  async apply(changes: readonly WorkspaceChange[], { ready }: ApplyOptions = {}): Promise<readonly AppliedChange[]> {
    await ready;
    if (changes.length === 0) return [];
    const before = await Promise.all(changes.map((change) => this.#contentBefore(change)));
    const rewrites = await Promise.all(changes.map((change) => this.#rewriteOf(change)));
    const { files } = await this.channel.ask<"change">({
      type: "change",
      changes: rewrites,
      branch: this.#control.branch ?? "",
    });
    return changes.map((change, index) => appliedOf(change, before[index], rewrites[index], files[index]));
  }

  async #run(...[command, options]: Parameters<ClientSide["run"]>): ReturnType<ClientSide["run"]> {
    const { text, cwd, timeoutMs, readsOnly } = command;
    const { relative } = insideOnly(cwd);
    return this.channel.ask<"run">({ type: "run", command: text, cwd: relative, timeoutMs, readsOnly }, options);
  }

  /**
   * Content before the change, only for showing it; undefined if it cannot be fetched. The client itself compares the base just
   * before it writes.
   */
  async #contentBefore(change: WorkspaceChange): Promise<Uint8Array | undefined> {
    if (change.operation === "create") return undefined;
    const { baseSha256, path } = change;
    const kept = await this.#blobs.get(baseSha256);
    if (kept !== undefined) return kept;
    try {
      const now = await this.read(path, { maxBytes: Number.MAX_SAFE_INTEGER });
      return now.sha256 === baseSha256 ? now.bytes : undefined;
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  }

  async #rewriteOf(change: WorkspaceChange): Promise<FileRewrite> {
    const path = insideOnly(change.path).relative;
    if (change.operation === "delete") {
      return { path, contentSha256: "", baseSha256: change.baseSha256, emptied: change.emptied ?? [] };
    }
    const { sha256 } = await this.#blobs.put(change.bytes, "application/octet-stream");
    return {
      path,
      contentSha256: sha256,
      baseSha256: change.operation === "create" ? "" : change.baseSha256,
      emptied: [],
      ...(change.mode === undefined ? {} : { mode: change.mode }),
    };
  }
}

/** The client reports what it wrote; anything but what was requested is a failure. */
function appliedOf(
  change: WorkspaceChange,
  bytes: Uint8Array | undefined,
  wanted: FileRewrite | undefined,
  file: RewrittenFile | undefined,
): AppliedChange {
  const right = file?.afterSha256 === wanted?.contentSha256 && file?.beforeSha256 === wanted?.baseSha256;
  if (file === undefined || !right) {
    throw new ToolFailure("applied_differently", `${change.path.relative} was not changed as asked.`, {
      failureClass: "partial_execution",
      hint: "Read the file to see what is in it.",
    });
  }
  return {
    path: change.path,
    operation: change.operation,
    before:
      file.beforeSha256 === "" ? undefined : { sha256: file.beforeSha256, ...(bytes === undefined ? {} : { bytes }) },
    afterSha256: file.afterSha256 === "" ? undefined : file.afterSha256,
    ...(file.beforeMode === undefined ? {} : { beforeMode: file.beforeMode & 0o777 }),
    ...(file.madeDirectories.length === 0 ? {} : { madeDirectories: file.madeDirectories }),
  };
}

function changedMeanwhile(path: string): ToolFailure {
  return new ToolFailure("path_changed", `${path} changed while it was read.`, { retryable: true });
}
