import { settingsText } from "./settings-text.ts";

/** Names and values; the last value of a name counts. Empty if there is no such file. */
export function npmSettings(file: string): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const line of settingsText(file).split("\n")) {
    const [, name, value = ""] = /^\s*([^;#=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) settings.set(name, value.replace(/^(["'])(.*)\1$/, "$2"));
  }
  return settings;
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
