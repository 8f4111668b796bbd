import { join } from "node:path";
import type { GitSettings } from "@gennai/git/run/git-settings";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import { verbOf } from "@gennai/governance/programs/known-programs";
import type { LoginSource } from "@gennai/governance/programs/program";
import { homeSettings } from "@gennai/stage/cover/home-settings";
import type { RunMount } from "@gennai/stage/staged-command";
import { ghLogins } from "./gh-logins.ts";
import { gitLogins } from "./git/git-logins.ts";
import { guardedPlace, type KeyContext } from "./login/key-context.ts";
import type { OwnLogin } from "./login/own-login.ts";
import { registryLogins } from "./registries/registry-logins.ts";

/** The user's logins that a command may use, each after a yes. */
export interface OwnLogins {
  readonly logins: readonly OwnLogin[];
  /** What programs of a run find in the place of some of them. */
  inRun(some: readonly OwnLogin[]): RunPlaceholders;
}

export interface RunPlaceholders {
  readonly environment: Readonly<Record<string, string>>;
  readonly git: GitSettings;
  readonly mounts: readonly RunMount[];
  /** Of their hosts. */
  readonly ports: readonly number[];
  /** Scripts of the package run meanwhile, as it is packed by them: it publishes, and installs nothing. */
  readonly packs: boolean;
}

export const noLogins: OwnLogins = {
  logins: [],
  inRun: () => ({ environment: {}, git: [], mounts: [], ports: [], packs: false }),
};

/** Matches the output of a run without login where a host wants one. */
export const wantsLogin =
  /\b40[13]\b|\bE(?:NEEDAUTH|401|403)\b|\b404\b[^]{0,300}@[\w.-]+(?:\/|%2f)|\bno token found\b|could not read (?:Username|Password) for|terminal prompts disabled|Authentication failed for|\bUser for \S+:/i;

/**
 * The logins for the programs of a command, in the user's own settings. Of the workspace only the addresses of git's remotes are
 * read, as texts. Rejects when the signal aborts.
 */
export async function ownLogins(command: CommandAnalysis, place: KeyContext): Promise<OwnLogins> {
  const { commands, text } = command;
  const calls = commands.flatMap(({ name, words }) => {
    const found = verbOf(name, words);
    return found?.verb.login === true ? [found] : [];
  });
  if (calls.length === 0) return noLogins;
  const of = (source: LoginSource) => calls.filter(({ program }) => program.logins?.includes(source));
  const [ofGit, ofGh] = await Promise.all([
    gitLogins(of("git"), place, text),
    ghLogins(of("gh"), command, guardedPlace(place)),
  ]);
  const logins = [...registryLogins(calls, place.keys), ...ofGit, ...ofGh];
  return {
    logins,
    inRun: (some) => {
      const npmrc = some.flatMap(({ inRun }) => inRun.npmrc ?? []);
      return {
        environment: Object.fromEntries(some.flatMap(({ inRun }) => Object.entries(inRun.environment ?? {}))),
        git: some.flatMap(({ inRun }) => inRun.git ?? []),
        mounts: npmrc.length === 0 ? [] : [npmSettingsWith(npmrc, place.keys.home)],
        ports: some.map(({ endpoint }) => endpoint.port),
        packs: calls.every(({ verb }) => verb.deploys === true),
      };
    },
  };
}

function npmSettingsWith(lines: readonly string[], home: string): RunMount {
  const path = join(home, ".npmrc");
  const shown = homeSettings(home).find((one) => one.path === path)?.text ?? "";
  return { path, text: `${[shown.trimEnd(), ...lines].join("\n")}\n` };
}
