import type { Endpoint } from "@gennai/governance/network/endpoint";
import { type FoundVerb, knownPrograms } from "@gennai/governance/programs/known-programs";
import type { LoginSource } from "@gennai/governance/programs/program";
import type { OwnLogin } from "../login/own-login.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { cargoPlaces } from "./cargo-places.ts";
import { declaredPlaces } from "./declared-places.ts";
import { npmPlaces } from "./npm-places.ts";
import { pipPlaces } from "./pip-places.ts";
import { combinedLogins, type RegistryAccess } from "./registry-login.ts";
import { yarnPlaces } from "./yarn-places.ts";

/** The user's logins for the registries of package managers. Reads only the user's own settings, and none of the workspace's. */
export function registryLogins(calls: readonly FoundVerb[], keys: UserKeys): readonly OwnLogin[] {
  const sources = new Set(calls.flatMap(({ program }) => program.logins ?? []));
  const words = calls.flatMap(({ rest }) => rest.filter((word) => word !== undefined));
  const deploys = calls.filter(({ verb, rest }) => verb.deploys === true || rest[0] === "publish").length;
  const uses = new Set(calls.flatMap(({ program }) => program.registry ?? []));
  const found = [
    ...[...sources].flatMap((source) => places[source]?.(keys, words) ?? []),
    ...[...uses].flatMap((use) => declaredPlaces(use, keys, words)),
  ];
  return combinedLogins(found, keys, {
    publishes: deploys === calls.length,
    isNeeded: (endpoint) => deploys > 0 || !isPublicRegistry(endpoint),
  });
}

type PlacesOf = (keys: UserKeys, words: readonly string[]) => readonly RegistryAccess[];

const places: Readonly<Partial<Record<LoginSource, PlacesOf>>> = {
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
function isPublicRegistry({ host }: Endpoint): boolean {
  return publicRegistries.has(host);
}

const publicRegistries: ReadonlySet<string> = new Set(
  knownPrograms.flatMap(({ logins, registry, hosts = "" }) =>
    (logins ?? registry) === undefined ? [] : hosts.split(" "),
  ),
);
