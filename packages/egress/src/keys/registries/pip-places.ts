import type { UserKeys } from "../login/user-keys.ts";
import { pipIndexes } from "./pip-settings.ts";
import { basic, type RegistryAccess } from "./registry-login.ts";

/** Logins in the user's `pip.conf`, `PIP_INDEX_URL` and `~/.netrc`. @param named indexes that the command names */
export function pipPlaces(keys: UserKeys, named: readonly string[]): readonly RegistryAccess[] {
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
