import type { KeyCommand } from "@gennai/governance/keys/key-command";
import { stagedDirectories } from "../stage/cover/stage-roots.ts";
import type { KeyPlan, UserKeys } from "./login/user-keys.ts";
import { searchPath } from "./login/user-program.ts";
import { planGh } from "./plan-gh.ts";
import { planPublish } from "./plan-publish.ts";
import { planPush } from "./plan-push.ts";

export interface KeyContext {
  /** Real path, in the workspace. */
  readonly directory: string;
  /** Real path. */
  readonly workspaceRoot: string;
  readonly keys: UserKeys;
  /** Whether rules hide a path from commands. @param path absolute */
  readonly isHidden?: ((path: string) => boolean) | undefined;
  readonly signal: AbortSignal;
}

export interface GuardedKeyContext extends KeyContext {
  /** Real paths of all directories that commands can write to: no program of the user's is taken from there. */
  readonly staged: readonly string[];
}

/**
 * The login that a command would need, and its host, before the question. Undefined for a push to a directory, which needs none.
 * Rejects with `ToolFailure` if that is unknown, or there is no login.
 */
export function planKey(command: KeyCommand, place: KeyContext): Promise<KeyPlan | undefined> {
  const there = guardedPlace(place);
  switch (command.type) {
    case "push":
      return planPush(command, there);
    case "publish":
      return planPublish(command, there);
    case "gh":
      return planGh(command, there);
  }
}

/** Adds the directories that commands can write to, in which no program of the user's is searched. */
export function guardedPlace(place: KeyContext): GuardedKeyContext {
  const { environment, home } = place.keys;
  const staged = stagedDirectories(place.workspaceRoot, home);
  const PATH = searchPath(environment, staged).join(":");
  return { ...place, staged, keys: { ...place.keys, environment: { ...environment, PATH } } };
}
