import type { UncoveredKey } from "@gennai/egress/keys/login/user-keys";
import { searchPath } from "@gennai/egress/keys/login/user-program";
import type { StagedCommand } from "@gennai/stage/staged-command";

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
