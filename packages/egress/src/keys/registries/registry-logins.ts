import { deploys } from "@gennai/governance/command/dangers/find-deploy";
import type { Endpoint } from "@gennai/governance/endpoint";
import { type FoundVerb, knownPrograms } from "@gennai/governance/programs/known-programs";
import type { LoginSource } from "@gennai/governance/programs/program";
import type { OwnLogin } from "../login/own-login.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { cargoPlaces } from "./cargo-places.ts";
import { declaredPlaces } from "./declared-places.ts";
import { expectedChange } from "./expected-change.ts";
import { npmPlaces } from "./npm-places.ts";
import { pipIndexes } from "./pip-settings.ts";
import { basic, combinedLogins, type RegistryAccess } from "./registry-login.ts";
import { yarnPlaces } from "./yarn-places.ts";

/** The user's logins for the registries of package managers. Reads only the user's own settings, and none of the workspace's. */
export function registryLogins(calls: readonly FoundVerb[], keys: UserKeys): readonly OwnLogin[] {
  const sources = new Set(calls.flatMap(({ program }) => program.logins ?? []));
  const words = calls.flatMap(({ rest }) => rest.filter((word) => word !== undefined));
  // Without a form in which it publishes, as for images, it only reads with a login.
  const isDeploy = ({ program: { names, registry }, name, rest }: FoundVerb): boolean =>
    (registry === undefined || registry.publishes !== undefined) &&
    deploys(names.replace(/ .*/, ""), [name, ...rest]) !== undefined;
  const deploying = calls.filter(isDeploy).length;
  const uses = new Set(calls.flatMap(({ program }) => program.registry ?? []));
  const [call, ...others] = calls;
  const found = [
    ...[...sources].flatMap((source) => places[source]?.(keys, words) ?? []),
    ...[...uses].flatMap((use) => declaredPlaces(use, keys, words)),
  ];
  return combinedLogins(found, keys, {
    publishes: deploying === calls.length,
    expects: call && others.length === 0 ? expectedChange(call) : undefined,
    isNeeded: (endpoint) => deploying > 0 || !isPublicRegistry(endpoint),
  });
}

type PlacesOf = (keys: UserKeys, words: readonly string[]) => readonly RegistryAccess[];

const places: Readonly<Partial<Record<LoginSource, PlacesOf>>> = {
  npm: npmPlaces,
  yarnrc: yarnPlaces,
  cargo: cargoPlaces,
  "pip.conf": (keys, words) => pipPlaces(keys, indexesIn(words)),
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

/** Logins in the user's `pip.conf`, `PIP_INDEX_URL` and `~/.netrc`. @param named indexes that the command names */
function pipPlaces(keys: UserKeys, named: readonly string[]): readonly RegistryAccess[] {
  const all = [pipIndexes(keys), ...named.map((index) => pipIndexes(keys, index))].flat();
  return all.flatMap(({ url, login, from }) =>
    login === undefined
      ? []
      : [
          {
            url,
            login: `the login of ${from} for ${url.host}`,
            ...basic(`${login.user}:${login.password}`),
            mayAsk: (path: string) =>
              archive.test(path) ||
              (path.startsWith(url.pathname) && /^[\w.-]+\/$/.test(path.slice(url.pathname.length))),
          },
        ],
  );
}

/** Paths of archives, which the index names. */
const archive = /\/[\w.]+-\d[\w.!+%-]*\.(?:whl|whl\.metadata|tar\.gz|tar\.bz2|tar\.xz|zip|tgz)$/;
