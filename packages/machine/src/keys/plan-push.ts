import { quotedCommand } from "@gennai/governance/command/quoted-command";
import type { PushCommand } from "@gennai/governance/keys/push-command";
import type { RunMount } from "../stage/staged-command.ts";
import { cleanGitSettings } from "./clean-git-settings.ts";
import { type GitAddress, gitAddressText } from "./git-address.ts";
import { filledCredential, helperFor } from "./https-login.ts";
import { keyDirectory, keyGitEnvironment } from "./key-git.ts";
import type { GuardedPlace } from "./plan-key.ts";
import { type PushTarget, pushTarget } from "./push-target.ts";
import { type SshLogin, sshLogin } from "./ssh-login.ts";
import type { KeyPlan, UncoveredKey } from "./user-keys.ts";

/** Undefined for a push to a directory. Rejects with `ToolFailure`. */
export async function planPush(command: PushCommand, place: GuardedPlace): Promise<KeyPlan | undefined> {
  const { directory, keys, signal } = place;
  const target = await pushTarget(command, { directory, home: keys.home, signal });
  if (target === undefined) return undefined;
  const { address } = target;
  const before = command.skipsHook ? {} : { before: hookRun(command, target) };
  const notes = command.setsUpstream
    ? [
        `[-u was left out: git's settings are as they were. To set it: git branch --set-upstream-to=${target.remote ?? "REMOTE"}/BRANCH]`,
      ]
    : [];
  if (address.scheme === "ssh") {
    const ssh = await sshLogin(address, place);
    const shown = gitAddressText({ ...address, host: ssh.host, port: ssh.port, user: ssh.user, path: asPath(address) });
    const uncover = () => Promise.resolve(bySsh(command, target, ssh));
    return { url: shown, login: ssh.login, ...before, notes, uncover };
  }
  const port = address.port ?? (address.scheme === "https" ? 443 : 80);
  return {
    url: gitAddressText({ ...address, port }),
    login: helperFor(address, target.user),
    ...before,
    notes,
    uncover: async (options) => {
      const { username, password } = await filledCredential(address, keys, options.signal);
      return byHelper(command, target, { username, password, port });
    },
  };
}

/** What a hook of the workspace says to it, in a run that has neither network nor login: all is sent to an empty repository. */
function hookRun({ options, remote, refspecs }: PushCommand, target: PushTarget): NonNullable<KeyPlan["before"]> {
  // What the other side has is not known there.
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

function pushText({ options, refspecs }: PushCommand, { remote, address }: PushTarget): string {
  return quotedCommand(["git", "push", ...options, remote ?? gitAddressText(address), ...refspecs]);
}

function settingsMount({ remote, address, repository }: PushTarget): RunMount {
  const remotes = new Map(remote === undefined ? [] : [[remote, gitAddressText(address)]]);
  return { text: cleanGitSettings(repository.entries, remotes), path: repository.file };
}

function bySsh(command: PushCommand, target: PushTarget, ssh: SshLogin): UncoveredKey {
  const options = [
    ...ssh.options,
    `Port=${ssh.port}`,
    `User=${ssh.user}`,
    `UserKnownHostsFile=${keyDirectory}/known_hosts`,
    "GlobalKnownHostsFile=/dev/null",
    "StrictHostKeyChecking=yes",
    "BatchMode=yes",
    "UpdateHostKeys=no",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "ControlPath=none",
  ];
  return {
    text: pushText(command, target),
    environment: {
      ...keyGitEnvironment("ssh", []),
      ...target.repository.environment,
      GIT_SSH_COMMAND: quotedCommand(["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option])]),
      GIT_SSH_VARIANT: "ssh",
    },
    mounts: [settingsMount(target), ...ssh.mounts, { text: ssh.knownHosts, path: `${keyDirectory}/known_hosts` }],
    hosts: [{ host: ssh.host, port: ssh.port }],
    secrets: [],
  };
}

function byHelper(
  command: PushCommand,
  target: PushTarget,
  { username, password, port }: { readonly username: string; readonly password: string; readonly port: number },
): UncoveredKey {
  const { scheme, host, port: named } = target.address;
  const place = `${scheme}://${host}${named === undefined ? "" : `:${named}`}`;
  return {
    text: pushText(command, target),
    environment: {
      ...keyGitEnvironment(scheme, [[`credential.${place}.helper`, helper]]),
      ...target.repository.environment,
      GENNAI_KEY_USER: username,
      GENNAI_KEY: password,
    },
    mounts: [settingsMount(target)],
    hosts: [{ host, port }],
    secrets: [password],
  };
}

/** Git asks it for this place only. */
const helper = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$GENNAI_KEY_USER" "$GENNAI_KEY"; }; f`;

/** As it stands in an address with a scheme. */
function asPath({ path }: GitAddress): string {
  return path.startsWith("/") ? path : `/${path}`;
}
