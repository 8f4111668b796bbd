import type { GitEffect } from "../../stage/observe/git-effects.ts";

/** What commands of each session stashed since this process started: all other stashes are the user's. */
export class OwnStashes {
  readonly #ids = new Map<string, ReadonlySet<string>>();

  /** Ids of commits. */
  of(session: string): ReadonlySet<string> {
    return this.#ids.get(session) ?? new Set();
  }

  /** @param effects the kept effects of a command of the session */
  note(session: string, effects: readonly GitEffect[]): void {
    const added = effects.flatMap((effect) =>
      effect.type === "reflog" && effect.name === "refs/stash" ? (effect.entries?.added ?? []) : [],
    );
    if (added.length > 0) this.#ids.set(session, new Set([...this.of(session), ...added]));
  }
}
