import type { WorkspacePath } from "@gennai/governance/effect";
import type { ResolveOptions, Workspace } from "./workspace.ts";

/** Another look at the files of a workspace, at the same paths. */
export abstract class WorkspaceOver
  implements Pick<Workspace, "root" | "place" | "controlRoot" | "syncControl" | "resolve">
{
  protected readonly below: Workspace;

  constructor(below: Workspace) {
    this.below = below;
  }

  get root(): string {
    return this.below.root;
  }

  get place(): string {
    return this.below.place;
  }

  get controlRoot(): string {
    return this.below.controlRoot;
  }

  syncControl(options?: Parameters<Workspace["syncControl"]>[0]): Promise<void> {
    return this.below.syncControl(options);
  }

  resolve(raw: string, options?: ResolveOptions): Promise<WorkspacePath> {
    return this.below.resolve(raw, options);
  }
}
