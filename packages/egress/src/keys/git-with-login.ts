import { quotedCommand } from "@gennai/governance/command/shell-words";
import type { RunMount } from "@gennai/stage/staged-command";
import { type GitAddress, gitAddressText } from "./git/git-address.ts";
import { keyDirectory, keyGitEnvironment } from "./git/key-git.ts";
import type { GuardedKeyContext } from "./login/key-context.ts";
import type { KeyPlan, UncoveredKey } from "./login/user-keys.ts";
import type { BoundAgent } from "./ssh-agent.ts";
import { type SshLogin, sshLogin } from "./ssh-login.ts";

/** A run of git that has the user's ssh keys for one address. */
export interface GitRun extends Pick<UncoveredKey, "text" | "scripts" | "environment"> {
  readonly address: GitAddress;
  /** Files that replace those of the repository. */
  readonly mounts: readonly RunMount[];
  /** Settings for this git, besides those of every git with a login. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** How often it logs in at most; once by default. */
  readonly logins?: number;
}

/** Rejects with `ToolFailure` (`no_key`) if the user has no key for the address. */
export async function gitWithLogin(
  run: GitRun,
  place: GuardedKeyContext,
): Promise<Pick<KeyPlan, "url" | "login" | "uncover">> {
  const { address } = run;
  const ssh = await sshLogin(address, place);
  return {
    url: gitAddressText({ ...address, host: ssh.host, port: ssh.port, user: ssh.user, path: asPath(address) }),
    login: ssh.login,
    uncover: async () => bySsh(run, ssh, await ssh.open(run.logins ?? 1)),
  };
}

function bySsh(
  { text, scripts, environment, mounts, settings = [] }: GitRun,
  ssh: SshLogin,
  agent: BoundAgent,
): UncoveredKey {
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
    text,
    ...(scripts === undefined ? {} : { scripts }),
    environment: {
      ...keyGitEnvironment(settings),
      ...environment,
      GIT_SSH_COMMAND: quotedCommand(["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option])]),
      GIT_SSH_VARIANT: "ssh",
    },
    mounts: [
      ...mounts,
      ...ssh.mounts,
      { source: agent.socket, path: `${keyDirectory}/agent` },
      { text: ssh.knownHosts, path: `${keyDirectory}/known_hosts` },
    ],
    hosts: [{ host: ssh.host, port: ssh.port }],
    notes: () => [...agent.refusals].map((why) => `[the ssh agent refused: ${why}]`),
    [Symbol.dispose]: () => agent[Symbol.dispose](),
  };
}

/** The path as in an address with a scheme. */
function asPath({ path }: GitAddress): string {
  return path.startsWith("/") ? path : `/${path}`;
}
