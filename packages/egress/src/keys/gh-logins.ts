import { dirname, join } from "node:path";
import { plainWords } from "@gennai/governance/command/words/plain-words";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import { type Endpoint, endpointOf } from "@gennai/governance/endpoint";
import { joinedCommands } from "@gennai/governance/network/key-chain";
import { pushCommandOf } from "@gennai/governance/network/push-command";
import { type FoundVerb, verbOf } from "@gennai/governance/programs/known-programs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { valueOf, withTexts } from "./gh-texts.ts";
import { readGitAddress } from "./git/git-address.ts";
import { keyRepository } from "./git/key-repository.ts";
import type { GuardedKeyContext } from "./login/key-context.ts";
import { noKey } from "./login/no-key.ts";
import { newPlaceholder, type OwnLogin } from "./login/own-login.ts";
import { runUserProgram } from "./login/run-user-program.ts";
import { settingsText } from "./login/settings-text.ts";
import { trustedBy } from "./login/trusted-by.ts";
import { userProgram } from "./login/user-program.ts";
import { expectedGh } from "./requests/gh-expected.ts";
import type { GhApi } from "./requests/gh-requests.ts";

/** The login of the user's gh for the servers that calls of gh speak with. */
export async function ghLogins(
  calls: readonly FoundVerb[],
  { text }: CommandAnalysis,
  place: GuardedKeyContext,
): Promise<readonly OwnLogin[]> {
  const { environment } = place.keys;
  const program = calls.length === 0 ? undefined : userProgram("gh", environment, place.staged);
  if (program === undefined) return [];
  const { remotes, ...there } = await remotesOf(place);
  const usual = environment["GH_HOST"] || remotes[0]?.host;
  const serverOf = ({ rest }: FoundVerb): string => repositoryIn(rest)?.host ?? usual ?? publicServer;
  const words = calls.length === 1 ? await withTexts(wordsIn(text), { ...place, ...there }) : undefined;
  return [...new Set(calls.map(serverOf))].flatMap((server) => {
    const here = remotes.filter(({ host }) => host === server).map(({ repository }) => repository);
    const own = calls.filter((call) => serverOf(call) === server).map((call) => namedIn(call) ?? here);
    const api = apiOf(server, [...new Set(own.flat())]);
    const changes = calls[0]?.program.changes ?? {};
    const expects = api && words && expectedGh(words, changes, { ...api, ...there });
    return api === undefined ? [] : [loginAt(server, { program, api, expects }, place)];
  });
}

const publicServer = "github.com";

function loginAt(
  server: string,
  { program, api, expects }: { readonly program: string; readonly api: Api; readonly expects: OwnLogin["expects"] },
  { keys }: GuardedKeyContext,
): OwnLogin {
  const { endpoint, repositories } = api;
  const within = repositories.length === 0 ? "" : `, in ${repositories.join(" and ")}`;
  const login = `the login that the user's gh has for ${server}${within}`;
  const placeholder = newPlaceholder();
  return {
    endpoint,
    login,
    isNeeded: true,
    isCertain: true,
    expects,
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
        use: (request) => ghUse(api, `token ${token}`, request),
        trusted: trustedBy(keys),
      };
    },
  };
}

function isPublic(server: string): boolean {
  return server === publicServer || server.endsWith(".ghe.com");
}

type Api = GhApi & { readonly endpoint: Endpoint };

/** Where a server's API is; undefined for one that has no plain name. */
function apiOf(server: string, repositories: readonly string[]): Api | undefined {
  const [, host = "", port = "443"] = /^([a-z0-9][a-z0-9.-]*)(?::(\d{1,5}))?$/i.exec(server) ?? [];
  const endpoint = endpointOf(isPublic(host) ? `api.${host}` : host, Number(port));
  if (host === "" || endpoint === undefined) return undefined;
  const paths = isPublic(host) ? { root: "/", graphql: "/graphql" } : { root: "/api/v3/", graphql: "/api/graphql" };
  return { ...paths, endpoint, repositories };
}

/** The server, and the repository, that a call names itself: `--repo git.example/o/r`. */
function repositoryIn(words: FoundVerb["rest"]): { readonly host?: string; readonly repository?: string } | undefined {
  const given = valueOf(words, ["-R", "--repo"]);
  const named = given === undefined ? undefined : placeNamed(given);
  const host = valueOf(words, ["--hostname"]) ?? named?.host;
  return { ...named, ...(host !== undefined && { host }) };
}

/** The repositories that a call names; undefined: those of the work tree's remotes. */
function namedIn({ name, rest }: FoundVerb): readonly string[] | undefined {
  const { repository } = repositoryIn(rest) ?? {};
  if (repository !== undefined) return [repository];
  const operands = rest.flatMap((word) => (word === undefined || word.startsWith("-") ? [] : [word]));
  const named = operands.flatMap((word) => {
    const [, inPath] = name === "api" ? (/^\/?repos\/([\w.-]+\/[\w.-]+)(?:\/|$|\?)/.exec(word) ?? []) : [];
    if (inPath !== undefined) return [inPath.toLowerCase()];
    if (name === "repo" || word.startsWith("https://")) return placeNamed(word)?.repository ?? [];
    return [];
  });
  return named.length === 0 ? undefined : named;
}

/** `owner/name`, with a host before it, or an address. */
function placeNamed(text: string): { readonly host?: string; readonly repository: string } | undefined {
  const [, host, repository] =
    /^(?:https:\/\/)?(?:([\w.:-]+)\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?(?:\/(?:issues|pull|releases|actions)\/.*)?$/.exec(
      text,
    ) ?? [];
  if (repository === undefined) return undefined;
  return { ...(host !== undefined && { host }), repository: repository.toLowerCase() };
}

interface RemoteRepository {
  readonly host: string;
  /** `owner/name`, in lower case. */
  readonly repository: string;
}

/** The remotes, in the order in which gh prefers them; where the refs of the first one are here, and which branch is its usual one. */
async function remotesOf({ directory, keys, signal }: GuardedKeyContext): Promise<{
  readonly remotes: readonly RemoteRepository[];
  readonly refs?: string;
  readonly usualBranch?: string;
}> {
  try {
    const repository = await keyRepository(directory, keys.home, signal);
    if (repository === undefined) return { remotes: [] };
    const found = repository.entries.flatMap(([key, value]) => {
      const name = /^remote\.(.+)\.url$/s.exec(key)?.[1];
      const address = name === undefined ? undefined : readGitAddress(value);
      if (name === undefined || typeof address !== "object") return [];
      return [{ name, host: address.host, repository: address.path.replace(/^\/|(?:\.git)?\/?$/g, "").toLowerCase() }];
    });
    const rank = (name: string): number => (preferred.indexOf(name) + preferred.length + 1) % (preferred.length + 1);
    const remotes = found.toSorted((one, other) => rank(one.name) - rank(other.name));
    const refs = `refs/remotes/${remotes[0]?.name ?? ""}/`;
    const head = /^ref: (\S+)\n?$/.exec(settingsText(join(dirname(repository.file), refs, "HEAD")))?.[1];
    const usualBranch = head?.startsWith(refs) === true ? head.slice(refs.length) : undefined;
    return { remotes, refs, ...(usualBranch !== undefined && { usualBranch }) };
  } catch (error) {
    if (error instanceof ToolFailure) return { remotes: [] };
    throw error;
  }
}

const preferred: readonly string[] = ["upstream", "github", "origin"];

/** The words of the one plain call behind its name; undefined if something that may change files or commits stands before it. */
function wordsIn(command: string): readonly string[] | undefined {
  const parts = joinedCommands(command);
  const at = parts.findIndex((part) => pushCommandOf(part) === undefined);
  const [program, ...words] = wordsWithText(parts[at] ?? command) ?? [];
  return program !== undefined && verbOf(program, words)?.program.logins?.includes("gh") === true ? words : undefined;
}

/** The words of one plain call, in which one may be a text of several lines: `"$(cat <<'EOF' …)"`. */
function wordsWithText(command: string): readonly string[] | undefined {
  const texts: string[] = [];
  const plain = command.replaceAll(/"\$\(cat <<'(\w+)'\n(.*?)\n\1\n\s*\)"/gs, (_whole, _end, text: string) => {
    texts.push(text.replace(/\n+$/, ""));
    return `'heredoc-${texts.length - 1}'`;
  });
  const words = plainWords(plain);
  return words?.map((word) => texts[Number(/^heredoc-(\d+)$/.exec(word)?.[1] ?? -1)] ?? word);
}
