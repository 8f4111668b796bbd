import { isAbsolute, join } from "node:path";
import { certificatesIn } from "@gennai/machine/process/certificates-in";
import type { UserKeys } from "../login/user-keys.ts";
import { credentialHost, type GitAddress } from "./git-address.ts";
import type { SettingEntries } from "./git-settings-of.ts";

/** Certificates that the user's git trusts for a host (`http.sslCAInfo`), in PEM. The environment has precedence. */
export function gitAuthority(
  { scheme, ...address }: GitAddress,
  user: SettingEntries,
  { home, environment }: UserKeys,
): readonly string[] {
  if (scheme !== "https" || environment["GIT_SSL_CAINFO"]) return [];
  const origin = URL.parse(`https://${credentialHost(address)}/`)?.origin;
  const named = user.flatMap(([name, value]) => {
    const [, place] = /^http\.(?:(.+)\.)?sslcainfo$/s.exec(name) ?? [];
    if (!/^http\.(?:.+\.)?sslcainfo$/s.test(name)) return [];
    return place === undefined || URL.parse(place)?.origin === origin ? [{ place, value }] : [];
  });
  // A setting for this place has precedence over a general one.
  const path = (named.findLast(({ place }) => place !== undefined) ?? named.at(-1))?.value;
  if (path === undefined) return [];
  const absolute = path.startsWith("~/") ? join(home, path.slice(2)) : path;
  const text = isAbsolute(absolute) ? certificatesIn(absolute) : undefined;
  return text === undefined ? [] : [text];
}
