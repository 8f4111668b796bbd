import { lstatSync } from "node:fs";
import type { WorkspacePath } from "@gennai/governance/effect";
import { MergedView } from "@gennai/machine/entries/merged-view";
import { LocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { AppliedChange, Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import { WorkspaceOver } from "@gennai/machine/workspace/workspace-over";
import type { StageContext } from "./change-on-stage.ts";
import { type PlannedWrite, planWrite } from "./proposal/staged-workspace.ts";
import type { OpenStage } from "./stages/open-stages.ts";

/** What commands of a session would see now: the workspace, or its open stage while there is one. */
export class OpenWorkspace extends WorkspaceOver implements Workspace {
  readonly #place: StageContext & { readonly session: string };

  constructor(below: Workspace, place: StageContext & { readonly session: string }) {
    super(below);
    this.#place = place;
  }

  stat(path: WorkspacePath): ReturnType<Workspace["stat"]> {
    return this.#on(path, (workspace) => workspace.stat(path));
  }

  read(...args: Parameters<Workspace["read"]>): ReturnType<Workspace["read"]> {
    return this.#on(args[0], (workspace) => workspace.read(...args));
  }

  list(...args: Parameters<Workspace["list"]>): ReturnType<Workspace["list"]> {
    return this.#on(args[0], (workspace) => workspace.list(...args));
  }

  glob(...args: Parameters<Workspace["glob"]>): ReturnType<Workspace["glob"]> {
    return this.#on(args[1], (workspace) => workspace.glob(...args));
  }

  search(...args: Parameters<Workspace["search"]>): ReturnType<Workspace["search"]> {
    return this.#on(args[1], (workspace) => workspace.search(...args));
  }

  /** On the open stage each change is compared with its base before the first one is made. */
  async apply(
    changes: readonly WorkspaceChange[],
    options: Parameters<Workspace["apply"]>[1] = {},
  ): Promise<readonly AppliedChange[]> {
    const open = this.#open;
    if (open === undefined) return this.below.apply(changes, options);
    await options.ready;
    return this.#mounted(open, async (workspace) => {
      const planned: PlannedWrite[] = [];
      for (const change of changes) planned.push(await planWrite(workspace, change));
      const view = new MergedView(workspace.root);
      for (const { applied, staged } of planned) {
        const { relative } = applied.path;
        if (staged === undefined) view.remove(relative);
        else await view.write(relative, once(staged.bytes), { mode: staged.mode, mtime: Date.now() / 1000 });
      }
      return planned.map(({ applied }) => applied);
    });
  }

  get #open(): OpenStage | undefined {
    return this.#place.stages.open.of(this.#place.session);
  }

  #on<Value>({ inside }: WorkspacePath, work: (workspace: Workspace) => Promise<Value>): Promise<Value> {
    const open = inside ? this.#open : undefined;
    return open === undefined ? work(this.below) : this.#mounted(open, work);
  }

  /** Mounted anew each time: a mount that was read would not show what the user saves. */
  async #mounted<Value>(open: OpenStage, work: (workspace: Workspace) => Promise<Value>): Promise<Value> {
    const { stages, zeroAccess, workspaceRoot, session } = this.#place;
    const { stage } = await stages.stage(workspaceRoot, zeroAccess, { session, open });
    try {
      const path = stage.seen(workspaceRoot);
      const { dev, ino } = lstatSync(`${path}/.`);
      const there = { stateDir: stages.stateDir, through: stage.entering };
      return await work(new LocalWorkspace({ path, device: dev, inode: ino }, there));
    } finally {
      await stage.close();
    }
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
