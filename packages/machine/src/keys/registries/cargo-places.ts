import { join } from "node:path";
import type { UserKeys } from "../login/user-keys.ts";
import { settingsText } from "../reading/settings-text.ts";
import type { RegistryAccess } from "./registry-login.ts";

/**
 * Logins for registries that cargo reads by HTTP, with the addresses from the user's own settings: a workspace could give any
 * address to a name for which the user has a login.
 */
export function cargoPlaces({ home, environment }: UserKeys): readonly RegistryAccess[] {
  const directory = environment["CARGO_HOME"] ?? join(home, ".cargo");
  const settings = tablesOf(settingsText(join(directory, "config.toml")) || settingsText(join(directory, "config")));
  const logins = tablesOf(
    settingsText(join(directory, "credentials.toml")) || settingsText(join(directory, "credentials")),
  );
  const names = new Set([...settings.keys()].flatMap((name) => /^registries\.(.+)\.index$/.exec(name)?.[1] ?? []));
  return [...names].flatMap((name) => {
    const variables = `CARGO_REGISTRIES_${name.toUpperCase().replaceAll("-", "_")}`;
    const token = environment[`${variables}_TOKEN`] || logins.get(`registries.${name}.token`) || "";
    const address = /^sparse\+(https?:\/\/.+)$/.exec(settings.get(`registries.${name}.index`) ?? "")?.[1];
    const url = address === undefined ? null : URL.parse(address.endsWith("/") ? address : `${address}/`);
    if (url === null || url.username !== "" || url.password !== "" || !/^[\x20-\x7e]+$/.test(token)) return [];
    return [
      {
        url,
        login: `the login of cargo's for the registry ${name}, which is ${url.href}`,
        authorization: token,
        secrets: [token, ...token.split(" ").slice(1)],
        mayAsk: (path) =>
          archive.test(path) || (path.startsWith(url.pathname) && entry.test(path.slice(url.pathname.length))),
        // If a registry requires a login everywhere, cargo does not ask it without one, nor without knowing the source.
        environment: {
          [`${variables}_TOKEN`]: "added-outside",
          [`${variables}_CREDENTIAL_PROVIDER`]: "cargo:token",
        },
      },
    ];
  });
}

/** An index file (by the beginning of a name), or the index's own configuration. */
const entry = /^(?:config\.json|[12]\/[\w-]+|3\/[\w-]\/[\w-]+|[\w-]{2}\/[\w-]{2}\/[\w-]+)$/;
/** Paths of archives, which the index names. */
const archive = /\/(?:[\w-]+\/[\w.+-]+\/download|[\w.+-]+\.crate)$/;

/** Texts by table and name. Parses only the TOML that cargo itself writes; ignores the rest. */
function tablesOf(toml: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let table = "";
  for (const line of toml.split(/\r?\n/)) {
    const head = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
    if (head !== undefined) table = `${plain(head)}.`;
    const [, name, single, double] = /^\s*([\w."' -]+?)\s*=\s*(?:'([^']*)'|"([^"\\]*)")\s*(?:#.*)?$/.exec(line) ?? [];
    if (name !== undefined) found.set(`${table}${plain(name)}`, single ?? double ?? "");
  }
  return found;
}

function plain(name: string): string {
  return name.replaceAll(/["'\s]/g, "");
}
