import { isAbsolute, join } from "node:path";
import { certificatesIn } from "../../process/environment/certificates-in.ts";
import type { RunMount } from "../../stage/staged-command.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { type GitAddress } from "./git-address.ts";
import type { SettingEntries } from "./git-settings-of.ts";
import { keyDirectory } from "./key-git.ts";

const file = `${keyDirectory}/git-authorities.crt`;

/**
 * Certificates that the user's git trusts for a host (`http.sslCAInfo`), for a run without these settings. The environment has
 * precedence.
 */
export function gitAuthorities(
  { scheme, host, port }: GitAddress,
  user: SettingEntries,
  { home, environment }: UserKeys,
): { readonly environment: Readonly<Record<string, string>>; readonly mounts: readonly RunMount[] } {
  const none = { environment: {}, mounts: [] };
  if (scheme !== "https" || environment["GIT_SSL_CAINFO"]) return none;
  const origin = URL.parse(
    `https://${host.includes(":") ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}/`,
  )?.origin;
  const named = user.flatMap(([name, value]) => {
    const [, place] = /^http\.(?:(.+)\.)?sslcainfo$/s.exec(name) ?? [];
    if (!/^http\.(?:.+\.)?sslcainfo$/s.test(name)) return [];
    return place === undefined || URL.parse(place)?.origin === origin ? [{ place, value }] : [];
  });
  // A setting for this place has precedence over a general one.
  const path = (named.findLast(({ place }) => place !== undefined) ?? named.at(-1))?.value;
  if (path === undefined) return none;
  const absolute = path.startsWith("~/") ? join(home, path.slice(2)) : path;
  const text = isAbsolute(absolute) ? certificatesIn(absolute) : undefined;
  return text === undefined ? none : { environment: { GIT_SSL_CAINFO: file }, mounts: [{ path: file, text }] };
}
