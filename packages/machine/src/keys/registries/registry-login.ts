import { type Endpoint, endpointOf, sameEndpoint } from "@gennai/governance/network/endpoint";
import type { AddedLogin } from "../../network/added-login.ts";
import { certificateVariables } from "../../process/environment/certificate-variables.ts";
import { certificatesIn } from "../../process/environment/certificates-in.ts";
import { loginSecrets } from "../login/login-secrets.ts";
import { portOf } from "../login/npm-login.ts";
import type { UserKeys } from "../login/user-keys.ts";

/** The login in the user's own settings for one place of a registry. */
export interface RegistryAccess {
  /** Address without a login; packages are read below its path. */
  readonly url: URL;
  /** In words for people. */
  readonly login: string;
  /** Value of the `Authorization` header. */
  readonly authorization: string;
  readonly secrets: readonly string[];
  /** Whether a package is read by this path. @param path */
  mayAsk(path: string): boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Combines all places of a host into one login; of several places for a path, the innermost counts. */
export function addedLogins(places: readonly RegistryAccess[], keys: UserKeys): readonly AddedLogin[] {
  const endpoints: { readonly endpoint: Endpoint; readonly isTls: boolean; readonly places: RegistryAccess[] }[] = [];
  for (const place of places) {
    const endpoint = endpointOf(place.url.hostname, portOf(place.url));
    if (endpoint === undefined) continue;
    const isTls = place.url.protocol === "https:";
    const known = endpoints.find((one) => sameEndpoint(one.endpoint, endpoint) && one.isTls === isTls);
    if (known === undefined) endpoints.push({ endpoint, isTls, places: [place] });
    else known.places.push(place);
  }
  const trusted = certificatesOf(keys);
  return endpoints.map(({ endpoint, isTls, places: all }) => {
    const inner = all.toSorted((one, other) => other.url.pathname.length - one.url.pathname.length);
    return {
      endpoint,
      isTls,
      login: [...new Set(all.map(({ login }) => login))].join(" and "),
      authorizationFor: (path) => inner.find((place) => place.mayAsk(path))?.authorization,
      secrets: all.flatMap(({ secrets }) => secrets),
      environment: Object.fromEntries(all.flatMap((place) => Object.entries(place.environment ?? {}))),
      trusted,
    };
  });
}

export function bearer(token: string): Pick<RegistryAccess, "authorization" | "secrets"> {
  return { authorization: `Bearer ${token}`, secrets: [token] };
}

/** @param pair `user:password` */
export function basic(pair: string): Pick<RegistryAccess, "authorization" | "secrets"> {
  const blob = Buffer.from(pair).toString("base64");
  const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(pair) ?? [];
  return { authorization: `Basic ${blob}`, secrets: [blob, pair, ...loginSecrets(user, password)] };
}

/** Certificates that the user's environment names. */
function certificatesOf({ environment }: UserKeys): readonly string[] {
  const files = new Set(certificateVariables.flatMap((name) => environment[name] ?? []));
  return [...files].flatMap((file) => certificatesIn(file) ?? []);
}
