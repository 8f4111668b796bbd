import { join } from "node:path";
import { isLoopback } from "@gennai/governance/endpoint";
import { npmSettings, registryAddress } from "../login/npm-settings.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { npmChange } from "../requests/npm-change.ts";
import { basic, bearer, type RegistryAccess } from "./registry-login.ts";

/** Logins in `~/.npmrc`, which npm, pnpm and yarn 1 read. */
export function npmPlaces({ home, environment }: UserKeys): readonly RegistryAccess[] {
  const settings = npmSettings(join(home, ".npmrc"));
  const registries = [...settings].flatMap(([name, value]) =>
    /^(?:@[\w.-]+:)?registry$/.test(name) ? (registryAddress(value) ?? []) : [],
  );
  const value = (name: string): string => expanded(settings.get(name) ?? "", environment);
  const names = new Set([...settings.keys()].flatMap((name) => /^(\/\/.+\/):/.exec(name)?.[1] ?? []));
  return [...names].flatMap((name) => {
    const said = authorizationIn({
      token: value(`${name}:_authToken`),
      pair: fromBase64(value(`${name}:_auth`)) || pairOf(value(`${name}:username`), value(`${name}:_password`)),
    });
    if (said === undefined) return [];
    // The name has no scheme, so it is taken from the user's own address of that registry.
    const below = registries.filter(({ host, pathname }) => `//${host}${pathname}`.startsWith(name));
    const own = below.length > 0 ? below : [placeNamed(name)];
    const inRun = (placeholder: string) => ({ npmrc: [`${name}:_authToken=${placeholder}`] });
    return own.flatMap((url) =>
      url === undefined ? [] : [{ ...npmPlace(url, `the login of ~/.npmrc for ${name}`, said), inRun }],
    );
  });
}

export function npmPlace(
  url: URL,
  login: string,
  said: Pick<RegistryAccess, "authorization" | "secrets">,
): RegistryAccess {
  return {
    url,
    login,
    ...said,
    mayAsk: (path) => path.startsWith(url.pathname) && packages.test(path.slice(url.pathname.length)),
    describes: (path) => path.startsWith(url.pathname) && descriptions.test(path.slice(url.pathname.length)),
    changes: ({ method, path }) =>
      path.startsWith(url.pathname) ? npmChange(method, path.slice(url.pathname.length), url) : undefined,
  };
}

/** Undefined if there is neither token nor password. */
export function authorizationIn({
  token,
  pair,
}: {
  readonly token: string;
  readonly pair: string;
}): Pick<RegistryAccess, "authorization" | "secrets"> | undefined {
  if (token !== "") return isHeader(token) ? bearer(token) : undefined;
  return pair === "" ? undefined : basic(pair);
}

/** Expands `${NAME}`, `${NAME-otherwise}` and `${NAME:-otherwise}`. */
export function expanded(value: string, environment: UserKeys["environment"]): string {
  return value.replaceAll(
    /\$\{([^}:-]+)(?::?-([^}]*))?\}/g,
    (_all, name: string, otherwise = "") => environment[name] ?? String(otherwise),
  );
}

function placeNamed(name: string): URL | undefined {
  const url = URL.parse(`https:${name}`);
  return url !== null && isLoopback({ host: url.hostname })
    ? (URL.parse(`http:${name}`) ?? undefined)
    : (url ?? undefined);
}

function pairOf(user: string, password: string): string {
  return user === "" || password === "" ? "" : `${user}:${fromBase64(password)}`;
}

export function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString();
}

function isHeader(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

const named = String.raw`(?:@[\w.~-]+(?:\/|%2f))?[\w.~][\w.~-]*`;

/**
 * Paths of a package's description and its archive, also GitHub's special address. Other paths of a registry concern its users.
 */
const packages = new RegExp(
  String.raw`^(?:${named}|-/package/${named}/dist-tags|${named}/-/(?:@[\w.~-]+/)?[\w.+~%-]+\.tgz|download/${named}/[\w.+-]+/[0-9a-f]{40,128})$`,
  "i",
);

/** What is read of a package, and of the user who is to own it, before something is changed of it. */
const descriptions = new RegExp(
  String.raw`^(?:${named}|-/package/${named}/dist-tags|-/user/org\.couchdb\.user:[\w.-]+)$`,
  "i",
);
