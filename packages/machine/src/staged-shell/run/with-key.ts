import type { UncoveredKey } from "../../keys/login/user-keys.ts";
import { searchPath } from "../../keys/login/user-program.ts";
import type { StagedCommand } from "../../stage/staged-command.ts";

/**
 * Adds to a command the login that a user allowed for this one run. No program of the workspace can replace the intended one.
 *
 * @param staged real paths of the directories that commands can write to
 */
export function withKey(command: StagedCommand, key: UncoveredKey, staged: readonly string[]): StagedCommand {
  const PATH = searchPath(command.environment, staged).join(":");
  const environment = { ...command.environment, ...key.environment, PATH };
  return { ...command, environment, mounts: key.mounts, alone: true };
}
