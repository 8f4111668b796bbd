import { quotedCommand } from "@gennai/governance/command/shell-words";
import type { PushCommand } from "@gennai/governance/network/push-command";
import type { RunMount } from "@gennai/stage/staged-command";
import { cleanGitSettings } from "./git/clean-git-settings.ts";
import { gitAddressText } from "./git/git-address.ts";
import { type RemoteTarget, remoteTarget } from "./git/remote-target.ts";
import { gitWithLogin } from "./git-with-login.ts";
import { guardedPlace, type KeyContext } from "./login/key-context.ts";
import type { KeyPlan } from "./login/user-keys.ts";

/** Undefined for a push that does not go by ssh. Rejects with `ToolFailure`. */
export async function planPush(command: PushCommand, place: KeyContext): Promise<KeyPlan | undefined> {
  const target = await remoteTarget(command.remote, "push", place);
  if (target?.address.scheme !== "ssh") return undefined;
  const before = command.skipsHook ? {} : { before: hookRun(command, target) };
  const notes = command.setsUpstream
    ? [
        `[-u was left out: git's settings are as they were. To set it: git branch --set-upstream-to=${target.remote ?? "REMOTE"}/BRANCH]`,
      ]
    : [];
  const { address, repository } = target;
  const { environment } = repository;
  const run = { address, environment, text: pushText(command, target), mounts: [settingsMount(target)] };
  return { ...(await gitWithLogin(run, guardedPlace(place))), ...before, notes };
}

/** A run of the workspace's pre-push hook without network and login, by pushing everything to an empty repository. */
function hookRun({ options, remote, refspecs }: PushCommand, target: RemoteTarget): NonNullable<KeyPlan["before"]> {
  // The empty repository does not have the remote's refs that these options refer to.
  const kept = options.filter((option) => !/^--force-|^--push-option/.test(option));
  const named = remote ?? target.remote;
  const words = [...kept, ...(named === undefined ? [] : [named]), ...refspecs];
  const rewrites = ["insteadOf", "pushInsteadOf"].map(
    (kind) => `-c "url.$there/r.git.${kind}="${quotedCommand([target.given])}`,
  );
  return {
    what: "the pre-push hook",
    text: [
      `hook=$(git rev-parse --git-path hooks/pre-push) && [ -x "$hook" ] || exit 0`,
      `there=$(mktemp -d) && git init -q --bare --template= "$there/r.git" || exit 1`,
      `git ${rewrites.join(" ")} push --dry-run -q ${quotedCommand(words)}`,
    ].join("\n"),
  };
}

function pushText({ options, refspecs }: PushCommand, { remote, address }: RemoteTarget): string {
  return quotedCommand(["git", "push", ...options, remote ?? gitAddressText(address), ...refspecs]);
}

/**
 * The settings that a git with a login reads in place of the repository's: one remote, and nothing that leads elsewhere. An
 * address is set as a remote of its own name; otherwise git looks for a file of that name in `remotes` and `branches` of its
 * directory, which may name another address.
 */
export function settingsMount({
  remote,
  address,
  repository,
}: Pick<RemoteTarget, "remote" | "address"> & {
  readonly repository: Pick<RemoteTarget["repository"], "entries" | "file">;
}): RunMount & { readonly text: string } {
  const text = gitAddressText(address);
  return { text: cleanGitSettings(repository.entries, new Map([[remote ?? text, text]])), path: repository.file };
}
