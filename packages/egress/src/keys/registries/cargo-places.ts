import { join } from "node:path";
import type { AddedLogin } from "../../network/added-login.ts";
import { newPlaceholder } from "../login/own-login.ts";
import { settingsText } from "../login/settings-text.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { crateChange } from "../requests/cargo-publish.ts";
import type { RegistryAccess } from "./registry-login.ts";
import { tablesOf } from "./settings-tables.ts";

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
  const names = [...settings.keys()].flatMap((name) => /^registries\.(.+)$/.exec(name)?.[1] ?? []);
  const own = names.flatMap((name): readonly RegistryAccess[] => {
    const variables = `CARGO_REGISTRIES_${name.toUpperCase().replaceAll("-", "_")}`;
    const token = environment[`${variables}_TOKEN`] || logins.get(`registries.${name}`)?.get("token") || "";
    const address = /^sparse\+(https?:\/\/.+)$/.exec(settings.get(`registries.${name}`)?.get("index") ?? "")?.[1];
    const url = address === undefined ? null : URL.parse(address.endsWith("/") ? address : `${address}/`);
    if (url === null || url.username !== "" || url.password !== "" || !isHeader(token)) return [];
    return [
      {
        ...place(url, token, variables),
        login: `the login of cargo's for the registry ${name}, which is ${url.href}`,
        rehearses: (path) => (path === `${url.pathname}config.json` ? indexOf(url.origin) : undefined),
        mayAsk: (path) =>
          archive.test(path) || (path.startsWith(url.pathname) && entry.test(path.slice(url.pathname.length))),
      },
    ];
  });
  const token = environment["CARGO_REGISTRY_TOKEN"] || logins.get("registry")?.get("token") || "";
  if (!isHeader(token)) return own;
  // Everybody reads it without a login, elsewhere.
  const usual = place(new URL("https://crates.io/"), token, "CARGO_REGISTRY");
  return [...own, { ...usual, login: "the login of cargo's for crates.io", beside: publicIndex, mayAsk: () => false }];
}

/** What an index says of where its crates and its API are. The index of crates.io is elsewhere, and read by everybody. */
function indexOf(api: string): string {
  return JSON.stringify({ dl: `${api}/api/v1/crates`, api });
}

const publicIndex: AddedLogin = {
  endpoint: { host: "index.crates.io", port: 443 },
  isTls: true,
  login: "no login",
  secrets: [],
  placeholder: newPlaceholder(),
  use: ({ method }) => (method === "GET" ? { authorization: "", unasked: true } : undefined),
  trusted: [],
  rehearses: (path) => (path === "/config.json" ? indexOf("https://crates.io") : undefined),
};

function place(url: URL, token: string, variables: string): Omit<RegistryAccess, "login" | "mayAsk"> {
  return {
    url,
    authorization: token,
    secrets: [token, ...token.split(" ").slice(1)],
    changes: ({ method, path }) => crateChange(method, path),
    // If a registry requires a login everywhere, cargo does not ask it without one, nor without knowing the source.
    inRun: (placeholder) => ({
      environment: { [`${variables}_TOKEN`]: placeholder, [`${variables}_CREDENTIAL_PROVIDER`]: "cargo:token" },
    }),
  };
}

function isHeader(token: string): boolean {
  return /^[\x20-\x7e]+$/.test(token);
}

/** An index file (by the beginning of a name), or the index's own configuration. */
const entry = /^(?:config\.json|[12]\/[\w-]+|3\/[\w-]\/[\w-]+|[\w-]{2}\/[\w-]{2}\/[\w-]+)$/;
/** Paths of archives, which the index names. */
const archive = /\/(?:[\w-]+\/[\w.+-]+\/download|[\w.+-]+\.crate)$/;
