import type { TreeClaim } from "@gennai/governance/policies/files/single-writer";
import { type ProcessLocks, treeLockName } from "@gennai/machine/process/locks/process-lock";
import type { PlaceInLine } from "@gennai/machine/process/locks/waiting-line";
import { ServiceError } from "@gennai/machine/service-error";
import type { Session } from "./session.ts";

/**
 * Claims the working tree for what a person does. Throws `ServiceError` if another turn has it.
 * @param act what did not happen then, e.g. `Nothing was kept`
 */
export async function holdTree(
  { id, services, workspace }: Pick<Session, "id" | "services" | "workspace">,
  act: string,
): Promise<WorkingTreeClaim> {
  const tree = new WorkingTreeClaim(services.locks, workspace.place, id);
  const claim = await tree.claim();
  if (claim.type === "held") throw treeInUse(act, claim.by);
  return tree;
}

export function treeInUse(act: string, by: string): ServiceError {
  return new ServiceError("failed_precondition", `${act}: the working tree is in use by ${by}.`, {
    reason: "tree_in_use",
    hint: "Wait for the end of that turn, or stop it.",
  });
}

/** A session's claim to write to a working tree, made at its first change and kept to the end of the turn. */
export class WorkingTreeClaim implements Disposable {
  readonly #locks: ProcessLocks;
  readonly #name: string;
  readonly #claimant: string;
  #place: PlaceInLine | undefined;
  #lock: Disposable | undefined;
  #claiming: Promise<TreeClaim> | undefined;
  #disposed = false;

  constructor(locks: ProcessLocks, root: string, sessionId: string) {
    this.#locks = locks;
    this.#name = treeLockName(root);
    this.#claimant = `session ${sessionId}`;
  }

  /** Does not wait, and does not overtake those waiting in line on this machine. */
  async claim(): Promise<TreeClaim> {
    if (this.#lock !== undefined) return { type: "ours" };
    // Calls of one turn may claim at the same time; the second must not conflict with the first.
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claim(): Promise<TreeClaim> {
    const first = (this.#place ?? this.#locks.line(this.#name)).first();
    if (first !== undefined) return { type: "held", by: this.#holder() ?? `${first}, which waited for it` };
    const attempt = this.#locks.tryAcquire(this.#name, this.#claimant);
    if (attempt.type === "held") return { type: "held", by: `${attempt.what}, process ${attempt.pid}` };
    const { shared } = this.#locks;
    if (shared === undefined) {
      this.#lock = attempt.lock;
      return { type: "ours" };
    }
    using parts = new DisposableStack();
    parts.use(attempt.lock);
    const everywhere = await shared.tryAcquire(this.#name, this.#claimant);
    if (everywhere.type === "held") return { type: "held", by: everywhere.by };
    parts.use(everywhere.lock);
    if (this.#disposed) return { type: "held", by: "nobody, the turn is over" };
    this.#lock = parts.move();
    return { type: "ours" };
  }

  /** The result that a claim would have, without claiming. */
  look(): TreeClaim {
    const holder = this.#locks.holder(this.#name);
    if (holder?.what === this.#claimant) return { type: "ours" };
    if (holder !== undefined) return { type: "held", by: `${holder.what}, process ${holder.pid}` };
    const first = this.#locks.line(this.#name).first();
    if (first === undefined || first === this.#claimant) return { type: "ours" };
    return { type: "held", by: `${first}, which waited for it` };
  }

  /** Takes the last place in the line for the tree. Until it is given up, claims fail exactly while others are ahead. */
  standInLine(): PlaceInLine {
    const place = this.#locks.line(this.#name).join(this.#claimant);
    this.#place = place;
    return {
      ...place,
      [Symbol.dispose]: () => {
        if (this.#place === place) this.#place = undefined;
        place[Symbol.dispose]();
      },
    };
  }

  /** Resolves when a claim from this place may have another result. Rejects with the signal's reason when it aborts. */
  changed(place: PlaceInLine, signal: AbortSignal): Promise<void> {
    return this.#locks.freed(this.#name, place, signal);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  #holder(): string | undefined {
    const holder = this.#locks.holder(this.#name);
    return holder === undefined ? undefined : `${holder.what}, process ${holder.pid}`;
  }
}
