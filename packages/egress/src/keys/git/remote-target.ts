import { ToolFailure } from "@gennai/governance/tool-error";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import type { KeyContext } from "../login/key-context.ts";
import { type GitAddress, type ReadAddress, readGitAddress } from "./git-address.ts";
import { type SettingEntries, settingOf, userGitSettings } from "./git-settings-of.ts";
import { type KeyRepository, keyRepository } from "./key-repository.ts";

/** Where git would push, or fetch, according to the settings of user and repository. */
export interface RemoteTarget {
  /** The remote's name; undefined if the command names an address. */
  readonly remote: string | undefined;
  readonly address: GitAddress;
  /** The address as written in the repository's settings or the command. */
  readonly given: string;
  readonly repository: KeyRepository;
}

/**
 * The one address that git pushes to, or fetches from, which is the remote's first one. The repository's settings define remotes,
 * but their rewriting of addresses is ignored. Undefined for a directory, which needs no login. Rejects with `ToolFailure` if
 * there is no such remote, or more than one address to push to.
 */
export async function remoteTarget(
  named: string | undefined,
  way: "push" | "fetch",
  { directory, keys: { home }, signal }: KeyContext,
): Promise<RemoteTarget | undefined> {
  const [repository, user] = await Promise.all([keyRepository(directory, home, signal), userGitSettings(signal)]);
  return targetIn({ directory, repository, user }, named, way);
}

/** Where git runs, and the settings there that name remotes and rewrite addresses. */
export interface GitPlace {
  readonly directory: string;
  readonly repository: KeyRepository | undefined;
  /** The user's own. */
  readonly user: SettingEntries;
}

/** The same, with settings that were read before. Throws `ToolFailure`. */
export function targetIn(
  { directory, repository, user }: GitPlace,
  named: string | undefined,
  way: "push" | "fetch",
): RemoteTarget | undefined {
  if (repository === undefined) return undefined;
  const { entries } = repository;
  const remote = named ?? usualRemote(entries, directory, way);
  // Git would take the name for an option.
  if (remote.startsWith("-")) throw refused(`${remote.slice(0, 100)} is not a name of a remote.`);
  const [given, ...more] = addressesOf(entries, remote, way);
  if (more.length > 0 && way === "push") {
    throw refused(`The remote ${remote} has more than one address. Name the one that is meant.`);
  }
  const text = given?.address ?? remote;
  const address = rewrittenAddress(text, user, way === "fetch" || given?.onlyPushes === true);
  if (address === "local") {
    if (given !== undefined || /[/]/.test(text)) return undefined;
    throw refused(`There is no remote ${remote}.`);
  }
  if (address === "unknown") {
    throw refused("A login is given only for a remote with an ssh, https or http address of one host.");
  }
  return { remote: given === undefined ? undefined : remote, address, given: text, repository };
}

/** The same; undefined also where it is not known. */
export function knownTarget(...where: Parameters<typeof targetIn>): RemoteTarget | undefined {
  try {
    return targetIn(...where);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

/** The address after the user's own rewriting rules; the longest match counts. @param onlyInsteadOf ignores rules for pushes */
export function rewrittenAddress(address: string, user: SettingEntries, onlyInsteadOf: boolean): ReadAddress {
  const rules = (kind: string) =>
    user.flatMap(([name, from]) => {
      const to = new RegExp(`^url\\.(.*)\\.${kind}$`, "s").exec(name)?.[1];
      return to !== undefined && address.startsWith(from) ? [{ from, to }] : [];
    });
  const pushes = onlyInsteadOf ? [] : rules("pushinsteadof");
  const [best] = (pushes.length > 0 ? pushes : rules("insteadof")).toSorted((a, b) => b.from.length - a.from.length);
  return readGitAddress(best === undefined ? address : best.to + address.slice(best.from.length));
}

/** The remote that git uses by default. */
function usualRemote(entries: SettingEntries, directory: string, way: "push" | "fetch"): string {
  const head = readGitHead(directory);
  const branch = head.type === "branch" ? head.branch : undefined;
  const remotes = new Set(entries.flatMap(([name]) => /^remote\.(.+)\.url$/s.exec(name)?.[1] ?? []));
  const [only] = remotes;
  const ofPush = () =>
    (branch === undefined ? undefined : settingOf(entries, `branch.${branch}.pushremote`)) ??
    settingOf(entries, "remote.pushdefault");
  return (
    (way === "push" ? ofPush() : undefined) ??
    (branch === undefined ? undefined : settingOf(entries, `branch.${branch}.remote`)) ??
    (remotes.size === 1 && only !== undefined ? only : "origin")
  );
}

function addressesOf(entries: SettingEntries, remote: string, way: "push" | "fetch") {
  const of = (kind: string) =>
    entries.filter(([name]) => name === `remote.${remote}.${kind}`).map(([, value]) => value);
  const pushed = way === "push" ? of("pushurl") : [];
  return pushed.length > 0
    ? pushed.map((address) => ({ address, onlyPushes: true }))
    : of("url").map((address) => ({ address, onlyPushes: false }));
}

function refused(message: string): ToolFailure {
  return new ToolFailure("no_push_target", message, {
    hint: "Look at git remote -v, and name the remote or its address in the command.",
  });
}
