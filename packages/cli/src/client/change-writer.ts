import type { BaseFile, ReviewedChange } from "@gennai/client/review/reviewed-change";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { AppliedFile, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { CliError } from "../errors/cli-error.ts";

/** Largest file that a proposal may change; bytes. */
const maxBytes = 64 * 1024 * 1024;

/** Writes sets of changes into a workspace, all or nothing, each against the bytes it is based on. */
export class ChangeWriter {
  readonly #workspace: Workspace;

  /** Throws `WorkspaceError` for a directory that cannot be a workspace. */
  constructor(workspace: string, stateDir: string) {
    this.#workspace = openLocalWorkspace(workspace, { stateDir });
  }

  /** The text that changes of a file are based on; undefined if there is no such file. Throws `CliError` for what is not text. */
  async base(path: string): Promise<BaseFile | undefined> {
    const resolved = await this.#workspace.resolve(path, { isRecorded: true });
    if ((await this.#workspace.stat(resolved)) === undefined) return undefined;
    const { bytes, sha256 } = await this.#workspace.read(resolved, { maxBytes });
    try {
      return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), sha256 };
    } catch (error) {
      throw new CliError(`${path} is not UTF-8 text, so its hunks cannot be applied.`, {
        next: ["Refuse this file and apply the rest, or change it by hand."],
        cause: error,
      });
    }
  }

  /** Rejects with `ToolFailure` if a file has changed since; then nothing was written. */
  async write(changes: readonly ReviewedChange[]): Promise<readonly AppliedFile[]> {
    const prepared = await Promise.all(changes.map((change) => this.#prepare(change)));
    const applied = await this.#workspace.apply(prepared, { readOnlyToo: true });
    return applied.map(({ path, operation, before, afterSha256 }) => ({
      path: path.relative,
      operation,
      beforeSha256: before?.sha256,
      afterSha256,
    }));
  }

  async #prepare(change: ReviewedChange): Promise<WorkspaceChange> {
    const path = await this.#workspace.resolve(change.path, { isRecorded: true });
    if (change.operation === "delete") return { operation: "delete", path, baseSha256: change.baseSha256 };
    const bytes = new TextEncoder().encode(change.text);
    if (change.operation === "create") return { operation: "create", path, bytes };
    return { operation: "update", path, bytes, baseSha256: change.baseSha256 };
  }
}

/** A change as it was proposed, as a whole. Throws for a conflict, and if its new text was not sent. */
export function finalChange(change: ProposedChange): ReviewedChange {
  const { path, operation, newContent: text, baseSha256 } = change;
  if (change.conflict) throw new Error(`${path} has a conflict and is not applied without review.`);
  if (change.newContentBlob !== undefined && operation !== "delete" && text === "") {
    throw new Error(`The new text of ${path} was not sent with the change.`);
  }
  if (operation === "delete") return { operation, path, baseSha256 };
  return operation === "create" ? { operation, path, text } : { operation, path, text, baseSha256 };
}
