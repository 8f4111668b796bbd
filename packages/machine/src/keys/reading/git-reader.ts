import { quotedCommand } from "@gennai/governance/command/quoted-command";
import { type GitReadCommand, gitReadCommand } from "@gennai/governance/keys/git-read-command";
import { cleanGitSettings } from "../git/clean-git-settings.ts";
import { type GitAddress, gitAddressText } from "../git/git-address.ts";
import { userGitSettings } from "../git/git-settings-of.ts";
import { keyRepository } from "../git/key-repository.ts";
import { type GitRun, gitWithLogin } from "../git-with-login.ts";
import { guardedPlace, type KeyContext } from "../plan-key.ts";
import { settingsMount } from "../plan-push.ts";
import { remoteTarget, rewrittenAddress } from "../push-target.ts";
import type { LoginReader } from "./login-reader.ts";

/** Ssh always needs a login; https only after the host has asked for one. */
export const gitReader: LoginReader = {
  refused:
    /could not read (?:Username|Password) for|terminal prompts disabled|Authentication failed for|Permission denied \(publickey/,
  async logins(text, place) {
    const command = gitReadCommand(text);
    if (command === undefined) return [];
    const run = await (command.verb === "clone" ? cloneRun(command, place) : fetchRun(command, place));
    if (run === undefined) return [];
    const plan = { ...(await gitWithLogin(run, guardedPlace(place))), notes: [] };
    const { scheme } = run.address;
    return [
      { host: hostOf(run.address), ...(scheme === "ssh" ? { always: true } : {}), plan: () => Promise.resolve(plan) },
    ];
  },
};

/** A fetch into the repository around the directory. Undefined if it reads from a directory. */
async function fetchRun(command: GitReadCommand, place: KeyContext): Promise<GitRun | undefined> {
  const { verb, options, remote, operands, behind } = command;
  const target = await remoteTarget(remote, "fetch", place);
  if (target === undefined) return undefined;
  const { address, user, repository } = target;
  const from = target.remote ?? gitAddressText(address);
  const withoutSubmodules = verb === "fetch" ? ["--no-recurse-submodules", "--no-auto-maintenance"] : [];
  const names = remote === undefined && operands.length === 0 ? [target.remote ?? from] : [from, ...operands];
  return {
    address,
    user,
    text: quotedCommand(["git", verb, ...options, ...withoutSubmodules, ...names]),
    ...(behind === undefined ? {} : { scripts: behind }),
    environment: repository.environment,
    mounts: [settingsMount(target)],
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
  const given = withoutPassword(remote);
  const actual = gitAddressText(address);
  return {
    address,
    user,
    text: quotedCommand(["git", "clone", "--template=", "--no-recurse-submodules", ...options, given, ...operands]),
    environment: {},
    // Git examines its surroundings before it creates its own repository.
    mounts: around === undefined ? [] : [{ text: cleanGitSettings(around.entries, new Map()), path: around.file }],
    settings: actual === given ? [] : [[`url.${actual}.insteadOf`, given]],
  };
}

/** The password may not be the user's, and it would be stored. */
function withoutPassword(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:]*):[^/@]*@/i, "$1@");
}

function hostOf({ scheme, host, port }: GitAddress): string {
  const named = host.includes(":") ? `[${host}]` : host;
  const usual = { ssh: 22, https: 443, http: 80 }[scheme];
  return port === undefined || port === usual ? named : `${named}:${port}`;
}
