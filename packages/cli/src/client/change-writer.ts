import type { ReviewedChange } from "@gennai/client/review/reviewed-change";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import type { AppliedFile, ProposedChange } from "@gennai/protocol/model/session/proposal";

/** Writes sets of changes into a workspace, all or nothing, each against the bytes it is based on. */
export class ChangeWriter {
  readonly #workspace: Workspace;

  /** Throws `WorkspaceError` for a directory that cannot be a workspace. */
  constructor(workspace: string, stateDir: string) {
    this.#workspace = openLocalWorkspace(workspace, { stateDir });
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
