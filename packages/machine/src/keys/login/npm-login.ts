import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";

import type { UserKeys } from "./user-keys.ts";

/** The login in the user's `~/.npmrc` for one registry. */
export interface NpmLogin {
  /** In words for people. */
  readonly login: string;
  /** Lines for an npm settings file, with the secret in variables. */
  readonly lines: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Undefined if there is none. @param registry address */
export function npmLogin(registry: URL, { home, environment }: UserKeys): NpmLogin | undefined {
  const settings = npmSettings(join(home, ".npmrc"));
  for (const place of placesOf(registry)) {
    for (const names of [["_authToken"], ["_auth"], ["username", "_password"]]) {
      const values = names.map((name) => expanded(settings.get(`${place}:${name}`), environment));
      if (values.some((value) => value === undefined || value === "")) continue;
      return {
        login: `the login of ~/.npmrc for ${place}`,
        lines: names.map((name, index) => `${place}:${name}=\${GENNAI_KEY_${index}}`),
        environment: Object.fromEntries(values.map((value, index) => [`GENNAI_KEY_${index}`, value ?? ""])),
      };
    }
  }
  return undefined;
}

/** Names and values; the last value of a name counts. Empty if there is no such file. */
export function npmSettings(file: string): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const line of textOf(file).split("\n")) {
    const [, name, value = ""] = /^\s*([^;#=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) settings.set(name, value.replace(/^(["'])(.*)\1$/, "$2"));
  }
  return settings;
}

/**
 * The directory in which npm looks for the project's settings: for a workspace of a project, the project's root.
 *
 * @param directory in `top`
 */
export function settingsDirectory(directory: string, top: string): string {
  let found: string | undefined;
  for (let at = directory; isWithin(at, { directory: top }); at = dirname(at)) {
    if (found === undefined) {
      if (existsSync(join(at, "package.json")) || existsSync(join(at, "node_modules"))) found = at;
    } else if (/"workspaces"\s*:/.test(textOf(join(at, "package.json")))) return at;
    if (dirname(at) === at) break;
  }
  return found ?? directory;
}

/** The address without a login; undefined if it is no plain address. */
export function registryAddress(text: unknown): URL | undefined {
  if (typeof text !== "string" || text.includes("${")) return undefined;
  const url = URL.parse(text.endsWith("/") ? text : `${text}/`);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.username = "";
  url.password = "";
  return url;
}

export function portOf({ port, protocol }: Pick<URL, "port" | "protocol">): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** The address as in npm's settings, longest first: `//host:port/path/`, down to `//host:port/`. */
function placesOf({ host, pathname }: URL): readonly string[] {
  const parts = pathname.split("/").filter((part) => part !== "");
  return Array.from({ length: parts.length + 1 }, (_, left) => {
    const path = parts.slice(0, parts.length - left).map((part) => `${part}/`);
    return `//${host}/${path.join("")}`;
  });
}

function expanded(value: string | undefined, environment: UserKeys["environment"]): string | undefined {
  return value?.replaceAll(/\$\{([^}]+)\}/g, (_all, name: string) => environment[name] ?? "");
}

const maxBytes = 256 * 1024;

function textOf(file: string): string {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? maxBytes) < maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}
