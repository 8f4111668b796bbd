import { isPlainInstall } from "@gennai/governance/installs/split-install";
import { oneCommand } from "@gennai/governance/keys/one-command";
import { pipInstall } from "@gennai/governance/keys/pip-install";
import { knownPrograms, verbOf } from "@gennai/governance/programs/known-programs";
import type { LoginSource } from "@gennai/governance/programs/program";
import type { AddedLogin } from "../../network/added-login.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { cargoPlaces } from "./cargo-places.ts";
import { npmPlaces } from "./npm-places.ts";
import { pipPlaces } from "./pip-places.ts";
import { addedLogins, type RegistryAccess } from "./registry-login.ts";
import { yarnPlaces } from "./yarn-places.ts";

/** The user's logins for the registries that a command may read from, and how a host asks for one. */
export interface RegistryLogins {
  readonly logins: readonly AddedLogin[];
  /** Matches the output of a run without login. */
  readonly refused: RegExp;
}

/**
 * The logins for a package manager's command. Empty for other commands, and for those that [get a login in a run without code of
 * the workspace](../reading/plan-read.ts). Reads only the user's own settings, and none of the workspace's.
 *
 * @param text for the shell
 */
export function registryLogins(text: string, keys: UserKeys): RegistryLogins {
  return {
    logins: addedLogins(placesFor(text, keys), keys),
    refused: /\b40[13]\b|\bE(?:NEEDAUTH|401|403)\b|\b404\b[^]{0,300}@[\w.-]+(?:\/|%2f)|\bno token found\b/i,
  };
}

function placesFor(text: string, keys: UserKeys): readonly RegistryAccess[] {
  const [name = "", ...words] = oneCommand(text) ?? [];
  const base = name.slice(name.lastIndexOf("/") + 1);
  const found = verbOf(base, words);
  if (found?.verb.login !== true || !found.isCertain) return [];
  // A program of the workspace may have any name.
  if (base !== name && found.program.byPath !== true) return [];
  if (isPlainInstall(text) || pipInstall(text) !== undefined) return [];
  return found.program.logins?.flatMap((source) => places[source](keys, words)) ?? [];
}

const places: Readonly<Record<LoginSource, (keys: UserKeys, words: readonly string[]) => readonly RegistryAccess[]>> = {
  npm: npmPlaces,
  yarn: yarnPlaces,
  cargo: cargoPlaces,
  pip: (keys, words) => pipPlaces(keys, indexesIn(words)),
};

function indexesIn(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    const [, inline] = /^--(?:extra-)?index-url=(.+)$/.exec(word) ?? [];
    return inline ?? (/^(?:-i|--(?:extra-)?index-url)$/.test(word) ? (words[at + 1] ?? []) : []);
  });
}

/** True for registries that most users read without their login, which is for publishing. */
export function isPublicRegistry({ endpoint }: AddedLogin): boolean {
  return publicRegistries.has(endpoint.host);
}

const publicRegistries: ReadonlySet<string> = new Set(
  knownPrograms.flatMap(({ logins, hosts = "" }) => (logins === undefined ? [] : hosts.split(" "))),
);
