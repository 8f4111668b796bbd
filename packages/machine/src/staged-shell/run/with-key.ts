import type { UncoveredKey } from "../../keys/login/user-keys.ts";
import { searchPath } from "../../keys/login/user-program.ts";
import type { StagedCommand } from "../../stage/staged-command.ts";

/**
 * The command with what a user allowed this one run. No program of the workspace can replace the intended one.
 *
 * @param staged real paths of the directories that commands can write to
 */
export function withKey(command: StagedCommand, key: UncoveredKey, staged: readonly string[]): StagedCommand {
  const { cwd = command.cwd, mounts } = key;
  const PATH = searchPath(command.environment, staged).join(":");
  return { ...command, cwd, environment: { ...command.environment, ...key.environment, PATH }, mounts, alone: true };
}
