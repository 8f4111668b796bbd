import { endpointOf } from "@gennai/governance/endpoint";
import type { FoundVerb } from "@gennai/governance/programs/known-programs";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { KeyContext } from "../login/key-context.ts";
import { exactly, newPlaceholder, type OwnLogin } from "../login/own-login.ts";
import { trustedBy } from "../login/trusted-by.ts";
import { basic } from "../registries/registry-login.ts";
import { gitUse } from "../requests/git-requests.ts";
import { droppedCommits } from "./dropped-commits.ts";
import { expectedPush } from "./expected-push.ts";
import { credentialHost, type GitAddress } from "./git-address.ts";
import { gitAuthority } from "./git-authority.ts";
import { userGitSettings } from "./git-settings-of.ts";
import { filledCredential, helperFor } from "./https-login.ts";
import { keyRepository } from "./key-repository.ts";
import { type GitPlace, knownTarget, rewrittenAddress } from "./remote-target.ts";

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
  const { directory, keys, signal } = place;
  const [user, repository] = await Promise.all([
    userGitSettings(signal),
    // Where it is not known which one git would use, its remotes are not known either.
    keyRepository(directory, keys.home, signal).catch(onlyFailure),
  ]);
  const there = { directory, repository, user };
  const expects = expectedPush(text, there);
  const named = calls.flatMap((call) => addressesOf(call, there).map((address) => ({ address, call })));
  const hosts: { readonly address: GitAddress; readonly paths: Set<string>; pushes: boolean }[] = [];
  for (const { address, call } of named) {
    const known = hosts.find(
      (one) => one.address.scheme === address.scheme && credentialHost(one.address) === credentialHost(address),
    );
    const host = known ?? { address, paths: new Set<string>(), pushes: false };
    if (known === undefined) hosts.push(host);
    host.paths.add(address.path);
    host.pushes ||= call.name === "push";
  }
  return hosts.flatMap(
    ({ address, paths, pushes }) => loginAt(address, { ...there, place, paths: [...paths], pushes, expects }) ?? [],
  );
}

/** Undefined if the user has none there. */
function loginAt(
  address: GitAddress,
  {
    user,
    repository,
    place: { keys },
    paths,
    pushes,
    expects,
  }: GitPlace & {
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
    expects: expects === undefined ? undefined : exactly(expects),
    ...(repository !== undefined && {
      remark: (what, options) => droppedCommits(what, repository.workTree, options),
    }),
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
function addressesOf({ name, rest }: FoundVerb, place: GitPlace): readonly GitAddress[] {
  const operands = rest.flatMap((word) => (word === undefined || word.startsWith("-") ? [] : [word]));
  if (name === "clone") return operands.map((word) => rewrittenAddress(word, place.user, true)).filter(isOverHttp);
  const addressOf = (remote?: string) => knownTarget(place, remote, name === "push" ? "push" : "fetch")?.address;
  const named = operands.map(addressOf).filter(isOverHttp);
  return named.length > 0 ? named : [addressOf()].filter(isOverHttp);
}

function onlyFailure(error: unknown): undefined {
  if (!(error instanceof ToolFailure)) throw error;
}

function isOverHttp(address: GitAddress | string | undefined): address is GitAddress {
  return typeof address === "object" && address.scheme !== "ssh";
}
