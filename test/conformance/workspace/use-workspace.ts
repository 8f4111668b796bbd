import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import { afterEach, beforeEach } from "vitest";

/** Opens a workspace before each test of the surrounding `describe`, and closes it after. */
export function useWorkspace(open: OpenWorkspace) {
  let fixture: WorkspaceFixture;
  beforeEach(async () => {
    fixture = await open();
  });
  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });
  return {
    get workspace() {
      return fixture.workspace;
    },
    get directory() {
      return fixture.directory;
    },
    get outside() {
      return fixture.outside;
    },
    /** Writes a file behind the workspace's back. */
    file(path: string, content: string | Uint8Array): string {
      const absolute = join(fixture.directory, path);
      mkdirSync(join(absolute, ".."), { recursive: true });
      writeFileSync(absolute, content);
      return absolute;
    },
    content: (path: string): string => readFileSync(join(fixture.directory, path), "utf8"),
    tree: (): string[] => readdirSync(fixture.directory, { recursive: true }).map(String).sort(),
    create: async (path: string, text: string): Promise<WorkspaceChange> => ({
      operation: "create",
      path: await fixture.workspace.resolve(path),
      bytes: Buffer.from(text),
    }),
    update: async (path: string, from: string, to: string): Promise<WorkspaceChange> => ({
      operation: "update",
      path: await fixture.workspace.resolve(path),
      bytes: Buffer.from(to),
      baseSha256: sha256(from),
    }),
    remove: async (path: string, from: string): Promise<WorkspaceChange> => ({
      operation: "delete",
      path: await fixture.workspace.resolve(path),
      baseSha256: sha256(from),
    }),
  };
}

export type OpenWorkspace = () => Promise<WorkspaceFixture>;

/** A workspace on a fresh directory that the suite may fill behind the workspace's back. */
export interface WorkspaceFixture extends AsyncDisposable {
  readonly workspace: Workspace;
  /** Real path of the workspace on this machine. */
  readonly directory: string;
  /** Real path of a directory beside it, outside. */
  readonly outside: string;
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
