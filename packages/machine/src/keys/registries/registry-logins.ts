import { isPlainNpmInstall } from "@gennai/governance/installs/plain-install";
import { oneCommand } from "@gennai/governance/keys/one-command";
import { pipInstall } from "@gennai/governance/keys/pip-install";
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
  const [program, ...words] = oneCommand(text) ?? [];
  const logins = program === undefined ? [] : addedLogins(placesFor(text, [program, ...words], keys), keys);
  return {
    logins,
    refused: /\b40[13]\b|\bE(?:NEEDAUTH|401|403)\b|\b404\b[^]{0,300}@[\w.-]+(?:\/|%2f)|\bno token found\b/i,
  };
}

function placesFor(
  text: string,
  [program, ...words]: readonly [string, ...string[]],
  keys: UserKeys,
): readonly RegistryAccess[] {
  const verb = words.find((word) => !/^[-+]/.test(word)) ?? "";
  switch (program) {
    case "npm":
      return /^(?:i|in|ins|install|add|ci|clean-install|update|up|upgrade|outdated|view|info|show)$/.test(verb) &&
        !isPlainNpmInstall(text)
        ? npmPlaces(keys)
        : [];
    case "pnpm":
      return /^(?:i|install|add|update|up|upgrade|fetch|outdated|view|info|show)$/.test(verb) ? npmPlaces(keys) : [];
    case "yarn":
      return /^(?:|install|add|up|upgrade|outdated|info)$/.test(verb) ? [...npmPlaces(keys), ...yarnPlaces(keys)] : [];
    case "cargo":
      return /^(?:b|build|c|check|clippy|d|doc|t|test|r|run|bench|fetch|update|add|generate-lockfile|vendor|tree|metadata)$/.test(
        verb,
      )
        ? cargoPlaces(keys)
        : [];
    default:
      return isPip([program, ...words]) && pipInstall(text) === undefined ? pipPlaces(keys, indexesIn(words)) : [];
  }
}

function isPip([program, ...words]: readonly [string, ...string[]]): boolean {
  const name = /(?:^|\/)(pip3?|python3?)(?:\.\d+)?$/.exec(program)?.[1] ?? "";
  const own = name.startsWith("python") && words[0] === "-m" && words[1] === "pip" ? words.slice(2) : words;
  return (name.startsWith("pip") || own !== words) && /^(?:install|download|wheel)$/.test(own[0] ?? "");
}

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
  "registry.npmjs.org registry.yarnpkg.com index.crates.io static.crates.io crates.io pypi.org files.pythonhosted.org".split(
    " ",
  ),
);
