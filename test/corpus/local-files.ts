import { createHash } from "node:crypto";
import { ToolFailure } from "@gennai/governance/tool-error";
import { type LocalWorkspace, openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { WorkspaceChange } from "@gennai/machine/workspace/workspace";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";

/** A workspace on the disk, and a directory outside of it. */
export interface LocalFiles extends AsyncDisposable {
  readonly inside: TemporaryDirectory;
  readonly outside: TemporaryDirectory;
  readonly state: TemporaryDirectory;
  readonly workspace: LocalWorkspace;
  update(path: string, from: string, to: string): Promise<WorkspaceChange>;
  create(path: string, text: string): Promise<WorkspaceChange>;
}

export async function localFiles(files: Readonly<Record<string, string>> = { "src/a": "old" }): Promise<LocalFiles> {
  await using parts = new AsyncDisposableStack();
  const inside = parts.use(await temporaryDirectory(files));
  const outside = parts.use(await temporaryDirectory({ secret: "secret" }));
  const state = parts.use(await temporaryDirectory());
  const workspace = openLocalWorkspace(inside.root, { stateDir: state.root });
  const owned = parts.move();
  return {
    inside,
    outside,
    state,
    workspace,
    update: async (path, from, to) => ({
      operation: "update",
      path: await workspace.resolve(path),
      bytes: Buffer.from(to),
      baseSha256: sha256(from),
    }),
    create: async (path, text) => ({
      operation: "create",
      path: await workspace.resolve(path),
      bytes: Buffer.from(text),
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The code of the failure; `ok` without one. Other errors are passed on. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "ok";
  } catch (error) {
    if (error instanceof ToolFailure) return error.code;
    throw error;
  }
}
