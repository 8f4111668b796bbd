import { stageRoots } from "@gennai/stage/cover/stage-roots";
import { probeStage, type StageSupport } from "@gennai/stage/mount/probe-stage";
import { StageUnavailable } from "@gennai/stage/transaction/stage-error";
import type { BackgroundWork } from "./background-work.ts";

/** Whether commands can be staged, by workspace; each is tried once. */
export class StageSupports {
  readonly #place: { readonly stateDir: string; readonly home: string };
  readonly #background: BackgroundWork;
  readonly #support = new Map<string, Promise<StageSupport>>();
  /** Why workspaces cannot be staged. */
  readonly #obstacles = new Map<string, string>();

  constructor(place: { readonly stateDir: string; readonly home: string }, background: BackgroundWork) {
    this.#place = place;
    this.#background = background;
  }

  /** @param workspaceRoot real path */
  of(workspaceRoot: string): Promise<StageSupport> {
    const known = this.#support.get(workspaceRoot);
    if (known !== undefined) return known;
    const { stateDir, home } = this.#place;
    const support = probeStage(stateDir, stageRoots(workspaceRoot, home)).then((found) => {
      if (found.state === "unavailable") this.#obstacles.set(workspaceRoot, found.reason);
      return found;
    });
    this.#support.set(workspaceRoot, support);
    // An unforeseen failure is not remembered: the next call tries again.
    const settled = support.then(
      () => undefined,
      () => void this.#support.delete(workspaceRoot),
    );
    void this.#background.add(settled);
    return support;
  }

  /** undefined until it was tried. */
  knownObstacle(workspaceRoot: string): string | undefined {
    return this.#obstacles.get(workspaceRoot);
  }

  /** The support of a workspace that must be staged. Throws `StageUnavailable`. */
  async needed(workspaceRoot: string): Promise<Extract<StageSupport, { readonly state: "staged" }>> {
    const support = await this.of(workspaceRoot);
    if (support.state === "staged") return support;
    throw new StageUnavailable(support.obstacle, support.reason, support.advice);
  }

  /** False for copies: they are made when the command comes, because an older copy would miss the user's changes. */
  async hasOverlays(workspaceRoot: string): Promise<boolean> {
    const support = await this.of(workspaceRoot);
    return support.state === "staged" && support.noOverlay === undefined;
  }

  /**
   * Called when the workspace, or the session's layer, has grown too large: from the next command on, it cannot be staged until
   * the server restarts.
   */
  tooLarge(workspaceRoot: string, { obstacle, message, advice }: StageUnavailable): void {
    this.#obstacles.set(workspaceRoot, message);
    this.#support.set(workspaceRoot, Promise.resolve({ state: "unavailable", obstacle, reason: message, advice }));
  }

  forget(workspaceRoot: string): void {
    this.#support.delete(workspaceRoot);
    this.#obstacles.delete(workspaceRoot);
  }
}
