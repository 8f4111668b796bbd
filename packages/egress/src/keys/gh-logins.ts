import { type Endpoint, endpointOf } from "@gennai/governance/network/endpoint";
import type { FoundVerb } from "@gennai/governance/programs/known-programs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { readGitAddress } from "./git/git-address.ts";
import type { SettingEntries } from "./git/git-settings-of.ts";
import { keyRepository } from "./git/key-repository.ts";
import type { GuardedKeyContext } from "./login/key-context.ts";
import { noKey } from "./login/no-key.ts";
import { newPlaceholder, type OwnLogin } from "./login/own-login.ts";
import { runUserProgram } from "./login/run-user-program.ts";
import { trustedBy } from "./login/trusted-by.ts";
import { userProgram } from "./login/user-program.ts";

/** The login of the user's gh for the servers that calls of gh speak with. */
export async function ghLogins(calls: readonly FoundVerb[], place: GuardedKeyContext): Promise<readonly OwnLogin[]> {
  const { environment } = place.keys;
  const program = calls.length === 0 ? undefined : userProgram("gh", environment, place.staged);
  if (program === undefined) return [];
  const usual = calls.every(({ rest }) => serverIn(rest) !== undefined) ? undefined : await usualServer(place);
  const servers = new Set(calls.map(({ rest }) => serverIn(rest) ?? usual ?? publicServer));
  return [...servers].flatMap((server) => loginAt(server, program, place) ?? []);
}

const publicServer = "github.com";

/** Undefined for a server that has no plain name. */
function loginAt(server: string, program: string, { keys }: GuardedKeyContext): OwnLogin | undefined {
  const api = apiOf(server);
  if (api === undefined) return undefined;
  const { endpoint, root, graphql } = api;
  const login = `the login that the user's gh has for ${server}`;
  const placeholder = newPlaceholder();
  return {
    endpoint,
    login,
    isNeeded: true,
    isCertain: true,
    inRun: {
      environment: {
        [isPublic(server) ? "GH_TOKEN" : "GH_ENTERPRISE_TOKEN"]: placeholder,
        GH_HOST: server,
        GH_PROMPT_DISABLED: "1",
        GH_NO_UPDATE_NOTIFIER: "1",
        GH_PAGER: "cat",
        GH_EDITOR: "false",
        GH_BROWSER: "false",
      },
    },
    open: async ({ signal }) => {
      const { environment } = keys;
      const args = ["auth", "token", "--hostname", server];
      const { code, output } = await runUserProgram(program, args, { environment, signal });
      const token = output.trim();
      if (code !== 0 || token === "") throw noKey(`The user's gh is not logged in to ${server}.`);
      // Needs a library.
      const { ghUse } = await import("./requests/gh-requests.ts");
      return {
        endpoint,
        isTls: true,
        login,
        secrets: [token],
        placeholder,
        use: (request) => ghUse({ root, graphql }, `token ${token}`, request),
        trusted: trustedBy(keys),
      };
    },
  };
}

function isPublic(server: string): boolean {
  return server === publicServer || server.endsWith(".ghe.com");
}

/** Where a server's API is. */
function apiOf(
  server: string,
): { readonly endpoint: Endpoint; readonly root: string; readonly graphql: string } | undefined {
  const [, host = "", port = "443"] = /^([a-z0-9][a-z0-9.-]*)(?::(\d{1,5}))?$/i.exec(server) ?? [];
  const endpoint = endpointOf(isPublic(host) ? `api.${host}` : host, Number(port));
  if (host === "" || endpoint === undefined) return undefined;
  return isPublic(host)
    ? { endpoint, root: "/", graphql: "/graphql" }
    : { endpoint, root: "/api/v3/", graphql: "/api/graphql" };
}

/** The server that a call names itself: `--repo git.example/o/r`. */
function serverIn(words: readonly (string | undefined)[]): string | undefined {
  const repository = valueOf(words, ["-R", "--repo"]);
  const [host, , name] = repository?.replace(/^https:\/\//, "").split("/") ?? [];
  return valueOf(words, ["--hostname"]) ?? (name === undefined ? undefined : host);
}

function valueOf(words: readonly (string | undefined)[], names: readonly string[]): string | undefined {
  for (const [index, word = ""] of words.entries()) {
    if (names.includes(word)) return words[index + 1];
    for (const name of names) {
      if (name.startsWith("--") && word.startsWith(`${name}=`)) return word.slice(name.length + 1);
      if (!name.startsWith("--") && word.startsWith(name)) return word.slice(name.length).replace(/^=/, "");
    }
  }
  return undefined;
}

/** Undefined: that of GitHub itself. */
async function usualServer({ directory, keys, signal }: GuardedKeyContext): Promise<string | undefined> {
  const named = keys.environment["GH_HOST"];
  if (named !== undefined && named !== "") return named;
  try {
    return serverOf((await keyRepository(directory, keys.home, signal))?.entries ?? []);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

/** That of the repository's first remote, in the order in which gh prefers them. */
function serverOf(entries: SettingEntries): string | undefined {
  const remotes = entries.flatMap(([key, value]) => {
    const name = /^remote\.(.+)\.url$/s.exec(key)?.[1];
    const address = name === undefined ? undefined : readGitAddress(value);
    return name === undefined || typeof address !== "object" ? [] : [{ name, server: address.host }];
  });
  const rank = (name: string): number => (preferred.indexOf(name) + preferred.length + 1) % (preferred.length + 1);
  return remotes.toSorted((one, other) => rank(one.name) - rank(other.name))[0]?.server;
}

const preferred: readonly string[] = ["upstream", "github", "origin"];
