import { stagedDirectories } from "@gennai/stage/cover/stage-roots";
import type { UserKeys } from "./user-keys.ts";
import { searchPath } from "./user-program.ts";

export interface KeyContext {
  /** Real path, in the workspace. */
  readonly directory: string;
  /** Real path. */
  readonly workspaceRoot: string;
  readonly keys: UserKeys;
  readonly signal: AbortSignal;
}

export interface GuardedKeyContext extends KeyContext {
  /** Real paths of all directories that commands can write to: no program of the user's is taken from there. */
  readonly staged: readonly string[];
}

/** Adds the directories that commands can write to, in which no program of the user's is searched. */
export function guardedPlace(place: KeyContext): GuardedKeyContext {
  const { environment, home } = place.keys;
  const staged = stagedDirectories(place.workspaceRoot, home);
  const PATH = searchPath(environment, staged).join(":");
  return { ...place, staged, keys: { ...place.keys, environment: { ...environment, PATH } } };
}
