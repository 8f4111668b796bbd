import { quotedCommand } from "@gennai/governance/command/shell-words";
import { type GitReadCommand, gitReadCommand } from "@gennai/governance/network/git-read-command";
import { cleanGitSettings } from "./git/clean-git-settings.ts";
import { gitAddressText } from "./git/git-address.ts";
import { userGitSettings } from "./git/git-settings-of.ts";
import { keyRepository } from "./git/key-repository.ts";
import { remoteTarget, rewrittenAddress } from "./git/remote-target.ts";
import { type GitRun, gitWithLogin } from "./git-with-login.ts";
import { guardedPlace, type KeyContext } from "./login/key-context.ts";
import type { KeyPlan } from "./login/user-keys.ts";
import { settingsMount } from "./plan-push.ts";

/**
 * Plans a run with the user's ssh keys for a command of git that reads. Undefined for another one, and where it does not go by ssh.
 * Rejects with `ToolFailure` (`no_key`).
 *
 * @param text for the shell
 */
export async function planRead(text: string, place: KeyContext): Promise<KeyPlan | undefined> {
  const command = gitReadCommand(text);
  if (command === undefined) return undefined;
  const run = await (command.verb === "clone" ? cloneRun(command, place) : fetchRun(command, place));
  if (run?.address.scheme !== "ssh") return undefined;
  return { ...(await gitWithLogin(run, guardedPlace(place))), notes: [] };
}

/** A fetch into the repository around the directory. Undefined if it reads from a directory. */
async function fetchRun(command: GitReadCommand, place: KeyContext): Promise<GitRun | undefined> {
  const { verb, options, remote, operands, behind } = command;
  const target = await remoteTarget(remote, "fetch", place);
  if (target === undefined) return undefined;
  const { address, repository } = target;
  const from = target.remote ?? gitAddressText(address);
  const withoutSubmodules = verb === "fetch" ? ["--no-recurse-submodules", "--no-auto-maintenance"] : [];
  const names = remote === undefined && operands.length === 0 ? [target.remote ?? from] : [from, ...operands];
  return {
    address,
    text: quotedCommand(["git", verb, ...options, ...withoutSubmodules, ...names]),
    ...(behind === undefined ? {} : { scripts: behind }),
    environment: repository.environment,
    mounts: [settingsMount(target)],
    // Tags may be fetched by another connection.
    logins: 2,
  };
}

/** A clone into a new directory. The address is stored as it was given. */
async function cloneRun(command: GitReadCommand, place: KeyContext): Promise<GitRun | undefined> {
  const { options, remote = "", operands } = command;
  const { directory, keys, signal } = place;
  const [user, around] = await Promise.all([
    userGitSettings(signal),
    keyRepository(directory, keys.home, signal).catch(() => undefined),
  ]);
  const address = rewrittenAddress(remote, user, true);
  if (typeof address === "string") return undefined;
  const actual = gitAddressText(address);
  return {
    address,
    text: quotedCommand(["git", "clone", "--template=", "--no-recurse-submodules", ...options, remote, ...operands]),
    environment: {},
    // Git examines its surroundings before it creates its own repository.
    mounts: around === undefined ? [] : [{ text: cleanGitSettings(around.entries, new Map()), path: around.file }],
    settings: actual === remote ? [] : [[`url.${actual}.insteadOf`, remote]],
  };
}
