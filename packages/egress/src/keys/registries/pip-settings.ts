import { join } from "node:path";
import { registryAddress } from "../login/npm-settings.ts";
import { settingsText } from "../login/settings-text.ts";
import type { UserKeys } from "../login/user-keys.ts";

export interface NamedLogin {
  readonly user: string;
  readonly password: string;
}

/** An index of packages, and how the user logs in there. */
export interface PipIndex {
  /** The address without a login in it. */
  readonly url: URL;
  readonly login: NamedLogin | undefined;
  /** In words for people. */
  readonly from: string;
}

/** The indexes in the user's own settings; the first one replaces PyPI. */
export function pipIndexes(keys: UserKeys, named?: string): readonly PipIndex[] {
  const { home, environment } = keys;
  const [settings, file] = [".config/pip/pip.conf", ".pip/pip.conf"]
    .map((name) => [iniSettings(settingsText(join(home, name))), `~/${name}`] as const)
    .find(([found]) => found.size > 0) ?? [new Map<string, string>(), ""];
  const said = (name: string): readonly [string, string] | undefined => {
    const variable = `PIP_${name.toUpperCase().replaceAll("-", "_")}`;
    const value = environment[variable];
    if (value !== undefined && value !== "") return [value, variable];
    const inFile = settings.get(`install.${name}`) ?? settings.get(`global.${name}`);
    return inFile === undefined ? undefined : [inFile, file];
  };
  const [first, firstFrom] =
    named === undefined ? (said("index-url") ?? ["https://pypi.org/simple/", ""]) : [named, ""];
  const [others = "", othersFrom = ""] = said("extra-index-url") ?? [];
  const all = [
    [first, firstFrom] as const,
    ...others
      .split(/\s+/)
      .filter((one) => one !== "")
      .map((one) => [one, othersFrom] as const),
  ];
  const ownOrigins = [said("index-url"), said("extra-index-url")]
    .flatMap((found) => found?.[0].split(/\s+/) ?? [])
    .map((text) => URL.parse(text)?.origin);
  return all.flatMap(([text, from]) => {
    const url = registryAddress(text);
    if (url === undefined) return [];
    // The command must not choose the user, port or plain-text connection for the login.
    const own = from === "" ? undefined : loginIn(text);
    const isUsual = url.protocol === "https:" && url.port === "";
    const takesNetrc = isUsual || ownOrigins.includes(url.origin);
    const login = own ?? (takesNetrc ? netrcLogin(settingsText(join(home, ".netrc")), url.hostname) : undefined);
    return [{ url, login, from: own === undefined ? "~/.netrc" : from }];
  });
}

/** The login in an address. */
export function loginIn(text: string): NamedLogin | undefined {
  const { username = "", password = "" } = URL.parse(text) ?? {};
  if (username === "" && password === "") return undefined;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

/** The login for exactly this host; `default` entries are ignored. */
export function netrcLogin(text: string, host: string): NamedLogin | undefined {
  const words = text
    .replaceAll(/^\s*#.*$/gm, "")
    .replaceAll(/(?:^|\n)macdef[^\n]*\n(?:[^\n]+\n)*/g, "\n")
    .split(/\s+/);
  const at = words.findIndex((word, index) => word === "machine" && words[index + 1] === host);
  if (at < 0) return undefined;
  const found = new Map<string, string>();
  for (let next = at + 2; next + 1 < words.length && !/^(?:machine|default)$/.test(words[next] ?? ""); next += 2) {
    found.set(words[next] ?? "", words[next + 1] ?? "");
  }
  const password = found.get("password");
  return password === undefined ? undefined : { user: found.get("login") ?? "", password };
}

/** Values by section and name; a value may continue in indented lines. */
function iniSettings(text: string): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  let section = "";
  let last = "";
  for (const line of text.split("\n")) {
    const head = /^\[(.+)\]\s*$/.exec(line)?.[1];
    const [, name, value = ""] = /^([\w-]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (head !== undefined) section = head;
    else if (name !== undefined) settings.set((last = `${section}.${name.replaceAll("_", "-")}`), value);
    else if (/^\s+[^\s#;]/.test(line) && last !== "") settings.set(last, `${settings.get(last)} ${line.trim()}`);
  }
  return settings;
}
