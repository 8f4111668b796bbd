import { quotedCommand } from "@gennai/governance/command/quoted-command";
import type { RunMount } from "../stage/staged-command.ts";
import { credentialHost, type GitAddress, gitAddressText } from "./git/git-address.ts";
import { gitAuthorities } from "./git/git-authorities.ts";
import type { SettingEntries } from "./git/git-settings-of.ts";
import { filledCredential, helperFor } from "./git/https-login.ts";
import { keyDirectory, keyGitEnvironment } from "./git/key-git.ts";
import { loginSecrets } from "./login/login-secrets.ts";
import type { KeyPlan, UncoveredKey } from "./login/user-keys.ts";
import type { GuardedKeyContext } from "./plan-key.ts";
import { type SshLogin, sshLogin } from "./ssh-login.ts";

/** A run of git that has the login for one address. */
export interface GitRun extends Pick<UncoveredKey, "text" | "scripts" | "environment"> {
  readonly address: GitAddress;
  /** The user's own git settings. */
  readonly user: SettingEntries;
  /** Files that replace those of the repository. */
  readonly mounts: readonly RunMount[];
  /** Settings for this git, besides those of every git with a login. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
}

/** Rejects with `ToolFailure` (`no_key`) if the user has no login for the address. */
export async function gitWithLogin(
  run: GitRun,
  place: GuardedKeyContext,
): Promise<Pick<KeyPlan, "url" | "login" | "uncover">> {
  const { address } = run;
  if (address.scheme === "ssh") {
    const ssh = await sshLogin(address, place);
    return {
      url: gitAddressText({ ...address, host: ssh.host, port: ssh.port, user: ssh.user, path: asPath(address) }),
      login: ssh.login,
      uncover: () => Promise.resolve(bySsh(run, ssh)),
    };
  }
  const port = address.port ?? (address.scheme === "https" ? 443 : 80);
  return {
    url: gitAddressText({ ...address, port }),
    login: helperFor(address, run.user),
    uncover: async ({ signal }) => {
      const { username, password } = await filledCredential(address, place.keys, signal);
      const authorities = gitAuthorities(address, run.user, place.keys);
      return byHelper(run, { username, password, port, authorities });
    },
  };
}

function bySsh({ text, scripts, environment, mounts, settings = [] }: GitRun, ssh: SshLogin): UncoveredKey {
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
      ...keyGitEnvironment("ssh", settings),
      ...environment,
      GIT_SSH_COMMAND: quotedCommand(["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option])]),
      GIT_SSH_VARIANT: "ssh",
    },
    mounts: [...mounts, ...ssh.mounts, { text: ssh.knownHosts, path: `${keyDirectory}/known_hosts` }],
    hosts: [{ host: ssh.host, port: ssh.port }],
    secrets: [],
  };
}

function byHelper(
  { text, scripts, environment, mounts, address, settings = [] }: GitRun,
  {
    username,
    password,
    port,
    authorities,
  }: {
    readonly username: string;
    readonly password: string;
    readonly port: number;
    readonly authorities: ReturnType<typeof gitAuthorities>;
  },
): UncoveredKey {
  const { scheme, host } = address;
  const place = `${scheme}://${credentialHost(address)}`;
  return {
    text,
    ...(scripts === undefined ? {} : { scripts }),
    environment: {
      ...keyGitEnvironment(scheme, [...settings, [`credential.${place}.helper`, helper]]),
      ...environment,
      ...authorities.environment,
      GENNAI_KEY_USER: username,
      GENNAI_KEY: password,
    },
    mounts: [...mounts, ...authorities.mounts],
    hosts: [{ host, port }],
    secrets: loginSecrets(username, password),
  };
}

/** A credential helper that git asks for this address only. */
const helper = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$GENNAI_KEY_USER" "$GENNAI_KEY"; }; f`;

/** The path as in an address with a scheme. */
function asPath({ path }: GitAddress): string {
  return path.startsWith("/") ? path : `/${path}`;
}
