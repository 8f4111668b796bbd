import { existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { RunMount } from "@gennai/stage/staged-command";
import type { GitAddress } from "./git/git-address.ts";
import { keyDirectory } from "./git/key-git.ts";
import type { GuardedKeyContext } from "./login/key-context.ts";
import { noKey } from "./login/no-key.ts";
import { runUserProgram, type UserProgramRun } from "./login/run-user-program.ts";
import type { UserKeys } from "./login/user-keys.ts";
import { userProgram } from "./login/user-program.ts";
import { type BoundAgent, boundAgent, type HeldAgent, privateDirectory } from "./ssh-agent.ts";

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
  /** An agent with the user's keys that logs in to this host alone. Rejects with `ToolFailure` (`no_key`). @param most logins */
  open(most: number): Promise<BoundAgent>;
}

/** Reads the user's own ssh settings, and asks the running agent. Rejects with `ToolFailure` (`no_key`). */
export async function sshLogin(address: GitAddress, place: GuardedKeyContext): Promise<SshLogin> {
  const { keys, staged, signal } = place;
  const { environment } = keys;
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
  options.push(`IdentityAgent=${inRun("agent")}`);
  const shared = `${identity ?? ""}.pub`;
  // The public half says which of the agent's keys to use.
  if (agent !== undefined && one("identitiesonly") === "yes" && existsSync(shared)) {
    mounts.push({ source: shared, path: inRun("id.pub") });
    options.push(`IdentityFile=${inRun("id.pub")}`, "IdentitiesOnly=yes");
  } else options.push("IdentityFile=none");
  if (agent === undefined && identity === undefined) {
    throw noKey(`No ssh agent runs, and the user has no ssh key for ${host}.`);
  }
  const login = agent === undefined ? `the user's ssh key ${identity}` : `the keys of the user's ssh agent (${agent})`;
  const port = Number(one("port") ?? 22);
  const known = [...(settings.get("userknownhostsfile") ?? []), ...(settings.get("globalknownhostsfile") ?? [])]
    .flatMap((line) => line.split(" "))
    .map((file) => textOf(inHome(file, keys.home)));
  const knownHosts = known.join("");
  const run: RunOfSsh = async (name, args, more) => {
    const program = userProgram(name, environment, staged);
    if (program === undefined) throw noKey(`There is no ${name} on this machine.`);
    return runUserProgram(program, args, { environment: { ...environment, ...more }, signal });
  };
  return {
    login,
    host,
    port,
    user,
    options,
    mounts,
    knownHosts,
    open: async (most) => {
      const names = alias === undefined ? [host, ...(port === 22 ? [] : [`[${host}]:${port}`])] : [alias];
      const hostKeys = await keysOf(names, knownHosts, run);
      if (hostKeys.size === 0 && /^@cert-authority\b/m.test(knownHosts)) {
        throw noKey(`The user's known hosts hold no key of ${host} itself. One of an authority is not enough here.`);
      }
      const own = agent === undefined ? await agentWith(identity ?? "", run) : { socket: agent, [Symbol.dispose]() {} };
      return boundAgent(own, { hostKeys, user, most });
    },
  };
}

/** One of the programs that belong to ssh. */
type RunOfSsh = (
  name: string,
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<UserProgramRun>;

/** Keys of a host by any of its names, in base64. */
async function keysOf(names: readonly string[], knownHosts: string, run: RunOfSsh): Promise<ReadonlySet<string>> {
  const directory = privateDirectory();
  const file = join(directory, "known_hosts");
  try {
    writeFileSync(file, knownHosts);
    const found = await Promise.all(names.map((name) => run("ssh-keygen", ["-F", name, "-f", file])));
    // Comments, revoked keys and those of authorities begin with these.
    const lines = found.flatMap(({ output }) => output.split("\n").filter((line) => !/^[#@]/.test(line)));
    return new Set(lines.flatMap((line) => line.split(" ")[2] ?? []));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Seconds after which an agent has the key no more, whatever becomes of this process: longer than any run. */
const keyLifetime = 900;

/** A new agent that holds one key, so that no run sees it. Rejects with `ToolFailure` (`no_key`). */
async function agentWith(identity: string, run: RunOfSsh): Promise<HeldAgent> {
  const directory = privateDirectory();
  const socket = join(directory, "own");
  let id: number | undefined;
  const end = (): void => {
    rmSync(directory, { recursive: true, force: true });
    try {
      if (id !== undefined) process.kill(id);
    } catch {
      // It has ended.
    }
  };
  try {
    const { output } = await run("ssh-agent", ["-s", "-a", socket]);
    id = Number(/\bSSH_AGENT_PID=(\d+);/.exec(output)?.[1]);
    const given = { SSH_AUTH_SOCK: socket, SSH_ASKPASS_REQUIRE: "never" };
    const { code } = await run("ssh-add", ["-q", "-t", String(keyLifetime), identity], given);
    if (code !== 0) throw noKey(`The user's ssh key ${identity} cannot be read without its passphrase.`);
    return { socket, [Symbol.dispose]: end };
  } catch (error) {
    end();
    throw error;
  }
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
