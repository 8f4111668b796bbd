import { endpointOf } from "@gennai/governance/network/endpoint";
import type { FoundVerb } from "@gennai/governance/programs/known-programs";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { KeyContext } from "../key-context.ts";
import { trustedBy } from "../login/trusted-by.ts";
import { newPlaceholder, type OwnLogin } from "../own-login.ts";
import { basic } from "../registries/registry-login.ts";
import { gitUse } from "../requests/git-requests.ts";
import { expectedPush } from "./expected-push.ts";
import { credentialHost, type GitAddress } from "./git-address.ts";
import { gitAuthority } from "./git-authority.ts";
import { type SettingEntries, userGitSettings } from "./git-settings-of.ts";
import { filledCredential, helperFor } from "./https-login.ts";
import { remoteTarget, rewrittenAddress } from "./remote-target.ts";

/**
 * The logins for the repositories that calls of git name, or their remotes, over https and http. Each is for these alone.
 *
 * @param text of the whole command, for the shell
 */
export async function gitLogins(
  calls: readonly FoundVerb[],
  place: KeyContext,
  text: string,
): Promise<readonly OwnLogin[]> {
  if (calls.length === 0) return [];
  const [user, expects] = await Promise.all([userGitSettings(place.signal), expectedPush(text, place)]);
  const named = await Promise.all(
    calls.map(async (call) => (await addressesOf(call, user, place)).map((address) => ({ address, call }))),
  );
  const hosts: { readonly address: GitAddress; readonly paths: Set<string>; pushes: boolean }[] = [];
  for (const { address, call } of named.flat()) {
    const known = hosts.find(
      (one) => one.address.scheme === address.scheme && credentialHost(one.address) === credentialHost(address),
    );
    const host = known ?? { address, paths: new Set<string>(), pushes: false };
    if (known === undefined) hosts.push(host);
    host.paths.add(address.path);
    host.pushes ||= call.name === "push";
  }
  return hosts.flatMap(
    ({ address, paths, pushes }) => loginAt(address, { user, place, paths: [...paths], pushes, expects }) ?? [],
  );
}

/** Undefined if the user has none there. */
function loginAt(
  address: GitAddress,
  {
    user,
    place: { keys },
    paths,
    pushes,
    expects,
  }: {
    readonly user: SettingEntries;
    readonly place: KeyContext;
    readonly paths: readonly string[];
    readonly pushes: boolean;
    readonly expects: string | undefined;
  },
): OwnLogin | undefined {
  const isTls = address.scheme === "https";
  const endpoint = endpointOf(address.host, address.port ?? (isTls ? 443 : 80));
  const helper = helperFor(address, user);
  if (endpoint === undefined || helper === undefined) return undefined;
  const login = `${helper}, in ${paths.join(" and ")}`;
  const placeholder = newPlaceholder();
  const answer = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' x ${placeholder}; }; f`;
  return {
    endpoint,
    login,
    isNeeded: pushes,
    isCertain: pushes,
    expects,
    inRun: { git: [[`credential.${address.scheme}://${credentialHost(address)}.helper`, answer]] },
    open: async ({ signal }) => {
      const { username, password } = await filledCredential(address, keys, signal);
      const { authorization, secrets } = basic(`${username}:${password}`);
      return {
        endpoint,
        isTls,
        login,
        secrets,
        placeholder,
        use: (request) => gitUse(paths, authorization, request),
        trusted: [...trustedBy(keys), ...gitAuthority(address, user, keys)],
      };
    },
  };
}

/** The addresses over http that git would use by its words: those that they name, else that of the usual remote. */
async function addressesOf(
  { name, rest }: FoundVerb,
  user: SettingEntries,
  place: KeyContext,
): Promise<readonly GitAddress[]> {
  const operands = rest.flatMap((word) => (word === undefined || word.startsWith("-") ? [] : [word]));
  if (name === "clone") return operands.map((word) => rewrittenAddress(word, user, true)).filter(isOverHttp);
  const way = name === "push" ? "push" : "fetch";
  const targets = await Promise.all([...operands, undefined].map((remote) => addressOf(remote, way, place)));
  const usual = targets.pop();
  const named = targets.filter(isOverHttp);
  return named.length > 0 ? named : [usual].filter(isOverHttp);
}

async function addressOf(remote: string | undefined, way: "push" | "fetch", place: KeyContext) {
  try {
    return (await remoteTarget(remote, way, place))?.address;
  } catch (error) {
    // A branch, or a repository of which it is not known which one it is.
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

function isOverHttp(address: GitAddress | string | undefined): address is GitAddress {
  return typeof address === "object" && address.scheme !== "ssh";
}
