import { quotedCommand } from "@gennai/governance/command/quoted-command";
import type { GhCommand } from "@gennai/governance/keys/gh-command";
import { cleanGitSettings } from "./git/clean-git-settings.ts";
import { gitAddressText, readGitAddress } from "./git/git-address.ts";
import { type SettingEntries } from "./git/git-settings-of.ts";
import { keyGitEnvironment } from "./git/key-git.ts";
import { keyRepository } from "./git/key-repository.ts";
import { submoduleSettings } from "./git/submodule-settings.ts";
import { noKey } from "./login/no-key.ts";
import { runUserProgram } from "./login/run-user-program.ts";
import type { KeyPlan } from "./login/user-keys.ts";
import { userProgram } from "./login/user-program.ts";
import type { GuardedKeyContext } from "./plan-key.ts";

/** Rejects with `ToolFailure`. */
export async function planGh({ words, host: named }: GhCommand, place: GuardedKeyContext): Promise<KeyPlan> {
  const { directory, keys, signal } = place;
  const { home, environment } = keys;
  const program = userProgram("gh", environment, place.staged);
  if (program === undefined)
    throw noKey(
      "The only gh on this machine is one that the workspace, or a version manager that reads its files, would choose.",
    );
  const repository = await keyRepository(directory, home, signal);
  const remotes = remotesOf(repository?.entries ?? []);
  const server = named ?? environment["GH_HOST"] ?? remotes[0]?.server ?? "github.com";
  const [, host = "", portText] = /^([a-z0-9][a-z0-9.-]*)(?::(\d{1,5}))?$/i.exec(server) ?? [];
  if (host === "") throw noKey(`${server.slice(0, 100)} is not a name of a server.`);
  const port = portText === undefined ? 443 : Number(portText);
  const settings = cleanGitSettings(
    repository?.entries ?? [],
    new Map(remotes.map(({ name, address }) => [name, address])),
  );
  const submodules = repository === undefined ? [] : await submoduleSettings(repository.workTree, signal);
  return {
    url: `https://${host}:${port}`,
    login: `the login that the user's gh has for ${server}`,
    notes: [],
    uncover: async (options) => {
      const args = ["auth", "token", "--hostname", server];
      const { code, output } = await runUserProgram(program, args, { environment, signal: options.signal });
      const token = output.trim();
      if (code !== 0 || token === "") throw noKey(`The user's gh is not logged in to ${server}.`);
      const isGithub = host === "github.com" || host.endsWith(".ghe.com");
      return {
        text: quotedCommand(["gh", ...words]),
        environment: {
          ...keyGitEnvironment("https", submodules),
          ...(makesRepository(words) ? {} : (repository?.environment ?? { GIT_DIR: "/dev/null" })),
          [isGithub ? "GH_TOKEN" : "GH_ENTERPRISE_TOKEN"]: token,
          GH_HOST: server,
          GH_PROMPT_DISABLED: "1",
          GH_NO_UPDATE_NOTIFIER: "1",
          GH_PAGER: "cat",
          GH_EDITOR: "false",
          GH_BROWSER: "false",
        },
        mounts: repository === undefined ? [] : [{ text: settings, path: repository.file }],
        hosts: [host, ...(host === "github.com" ? ["api.github.com", "uploads.github.com"] : [])].map((each) => ({
          host: each,
          port,
        })),
        secrets: [token],
      };
    },
  };
}

/** True for commands that create a repository, in which git then works too. */
function makesRepository([group = "", verb = ""]: readonly string[]): boolean {
  return /^(?:repo|gist)$/.test(group) && /^(?:clone|fork|create)$/.test(verb);
}

/** The repository's remotes, in the order in which gh prefers them. */
function remotesOf(entries: SettingEntries) {
  const remotes = entries.flatMap(([key, value]) => {
    const name = /^remote\.(.+)\.url$/s.exec(key)?.[1];
    const address = name === undefined ? undefined : readGitAddress(value);
    if (name === undefined || address === undefined || typeof address === "string") return [];
    return [{ name, address: gitAddressText(address), server: address.host }];
  });
  const rank = (name: string): number => {
    const at = preferred.indexOf(name);
    return at < 0 ? preferred.length : at;
  };
  return remotes.toSorted((a, b) => rank(a.name) - rank(b.name));
}

const preferred: readonly string[] = ["upstream", "github", "origin"];
