import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { RunMount } from "@gennai/stage/staged-command";
import type { GitAddress } from "./git/git-address.ts";
import { keyDirectory } from "./git/key-git.ts";
import type { GuardedKeyContext } from "./login/key-context.ts";
import { noKey } from "./login/no-key.ts";
import { runUserProgram } from "./login/run-user-program.ts";
import type { UserKeys } from "./login/user-keys.ts";
import { userProgram } from "./login/user-program.ts";

/** How the user logs in to one host by ssh. */
export interface SshLogin {
  /** In words for people. */
  readonly login: string;
  /** Name of the host in the user's settings. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Options that leave nothing to ssh's own settings. */
  readonly options: readonly string[];
  readonly mounts: readonly RunMount[];
  /** The known hosts of the user, in ssh's format. */
  readonly knownHosts: string;
}

/** Reads the user's own ssh settings, and asks the running agent. Rejects with `ToolFailure` (`no_key`). */
export async function sshLogin(address: GitAddress, place: GuardedKeyContext): Promise<SshLogin> {
  const { keys } = place;
  const settings = await sshSettings(address, place);
  const one = (name: string): string | undefined => settings.get(name)?.[0];
  for (const name of ["proxyjump", "proxycommand"]) {
    const way = one(name);
    if (way !== undefined && way !== "none") {
      throw noKey(`The user's ssh goes to ${address.host} by way of another program or host (${name}).`);
    }
  }
  const host = one("hostname") ?? address.host;
  const user = address.user ?? one("user") ?? userInfo().username;
  const files = (settings.get("identityfile") ?? []).map((file) => inHome(file, keys.home));
  const agent = agentSocket(one("identityagent"), keys);
  const identity = files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
  const inRun = (name: string): string => `${keyDirectory}/${name}`;
  const alias = one("hostkeyalias");
  const mounts: RunMount[] = [];
  const options = [`HostName=${host}`, ...(alias === undefined ? [] : [`HostKeyAlias=${alias}`])];
  let login: string;
  if (agent !== undefined) {
    login = `the keys of the user's ssh agent (${agent})`;
    mounts.push({ source: agent, path: inRun("agent") });
    options.push(`IdentityAgent=${inRun("agent")}`);
    const shared = `${identity ?? ""}.pub`;
    // The public half says which of the agent's keys to use.
    if (one("identitiesonly") === "yes" && existsSync(shared)) {
      mounts.push({ source: shared, path: inRun("id.pub") });
      options.push(`IdentityFile=${inRun("id.pub")}`, "IdentitiesOnly=yes");
    } else options.push("IdentityFile=none");
  } else if (identity !== undefined) {
    login = `the user's ssh key ${identity}`;
    mounts.push({ source: identity, path: inRun("id") });
    options.push("IdentityAgent=none", `IdentityFile=${inRun("id")}`, "IdentitiesOnly=yes");
  } else throw noKey(`No ssh agent runs, and the user has no ssh key for ${host}.`);
  const known = [...(settings.get("userknownhostsfile") ?? []), ...(settings.get("globalknownhostsfile") ?? [])]
    .flatMap((line) => line.split(" "))
    .map((file) => textOf(inHome(file, keys.home)));
  return { login, host, port: Number(one("port") ?? 22), user, options, mounts, knownHosts: known.join("") };
}

/** Ssh's effective settings by name, as ssh itself prints them. */
async function sshSettings(
  { host, port, user }: GitAddress,
  { keys: { home, environment }, staged, signal }: GuardedKeyContext,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const own = join(home, ".ssh/config");
  const program = userProgram("ssh", environment, staged);
  if (program === undefined) throw noKey("There is no ssh on this machine.");
  const args = [
    // Ssh asks the system for the home, which may differ from the home that the user's programs get.
    ...(userInfo().homedir === home ? [] : ["-F", existsSync(own) ? own : "/dev/null"]),
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...(user === undefined ? [] : ["-l", user]),
  ];
  const { code, output } = await runUserProgram(program, ["-G", ...args, "--", host], { environment, signal });
  if (code !== 0) throw noKey(`ssh cannot tell how to reach ${host}.`);
  const settings = new Map<string, string[]>();
  for (const line of output.split("\n")) {
    const [, name, value = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    if (name !== undefined) settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

function agentSocket(named: string | undefined, { home, environment }: UserKeys): string | undefined {
  if (named === "none") return undefined;
  const path = named === undefined || named === "SSH_AUTH_SOCK" ? environment["SSH_AUTH_SOCK"] : inHome(named, home);
  if (path === undefined || !path.startsWith("/")) return undefined;
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true ? path : undefined;
}

function inHome(path: string, home: string): string {
  return path.replace(/^~(?=\/)/, home).replaceAll("%d", home);
}

function textOf(path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    return text === "" || text.endsWith("\n") ? text : `${text}\n`;
  } catch {
    return "";
  }
}
