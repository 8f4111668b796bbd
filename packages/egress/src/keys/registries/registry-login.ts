import { type Endpoint, endpointOf, sameEndpoint } from "@gennai/governance/endpoint";
import type {
  AddedLogin,
  BodyReader,
  ComparedMeaning,
  LoginRequest,
  RequestMeaning,
} from "../../network/added-login.ts";
import { loginSecrets } from "../login/login-secrets.ts";
import { portOf } from "../login/npm-settings.ts";
import { type ExpectedChange, newPlaceholder, type OwnLogin, type Placeholders } from "../login/own-login.ts";
import { trustedBy } from "../login/trusted-by.ts";
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
  /** Whether it is only described there, which is all that publishing reads; the same as `mayAsk` by default. @param path */
  describes?(path: string): boolean;
  /** Reads what a request would change there; undefined for one that is refused. */
  changes?(request: LoginRequest): BodyReader | undefined;
  /** A document that a rehearsal of publishing needs. @param path */
  rehearses?(path: string): string | undefined;
  /** A host that is read without the login, in a rehearsal. */
  readonly beside?: AddedLogin;
  /** Where its program looks for the login. */
  inRun?(placeholder: string): Placeholders;
}

/** Headers of what is sent to a registry. The one-time password is in the command's own words. */
const ofChanges: readonly string[] = ["content-type", "npm-auth-type", "npm-command", "npm-otp"];

/** Combines all places of a host into one login; of several places for a path, the innermost counts. */
export function combinedLogins(
  places: readonly RegistryAccess[],
  keys: UserKeys,
  {
    publishes,
    expects,
    isNeeded,
  }: {
    readonly publishes: boolean;
    readonly expects: ExpectedChange | undefined;
    isNeeded(endpoint: Endpoint): boolean;
  },
): readonly OwnLogin[] {
  const endpoints: { readonly endpoint: Endpoint; readonly isTls: boolean; readonly places: RegistryAccess[] }[] = [];
  for (const place of places) {
    const endpoint = endpointOf(place.url.hostname, portOf(place.url));
    if (endpoint === undefined) continue;
    const isTls = place.url.protocol === "https:";
    const known = endpoints.find((one) => sameEndpoint(one.endpoint, endpoint) && one.isTls === isTls);
    if (known === undefined) endpoints.push({ endpoint, isTls, places: [place] });
    else known.places.push(place);
  }
  return endpoints.map(({ endpoint, isTls, places: all }) => {
    const inner = all.toSorted((one, other) => other.url.pathname.length - one.url.pathname.length);
    const login = [...new Set(all.map((place) => place.login))].join(" and ");
    const isOnePlace = new Set(all.map(({ url }) => url.pathname)).size === 1;
    const placeholder = newPlaceholder();
    const inRun = all.map((place) => place.inRun?.(placeholder) ?? {});
    const use = (request: LoginRequest) => {
      const { method, path, query } = request;
      if (method === "GET" || method === "HEAD") {
        const isRead = (place: RegistryAccess): boolean =>
          publishes && place.describes !== undefined ? place.describes(path) : place.mayAsk(path);
        // The second one is what npm adds before it changes a package.
        const read = query === "" || query === "?write=true" ? inner.find(isRead) : undefined;
        // Some managers send it only for names with a scope.
        return read && { authorization: read.authorization, unasked: true as const };
      }
      for (const { url, authorization, changes, inRun: shown } of query === "" ? inner : []) {
        const reader = changes?.(request);
        if (reader === undefined) continue;
        const body = isOnePlace ? reader : naming(url, reader);
        // Without a place for a placeholder, its program cannot send one.
        return { authorization, headers: ofChanges, body, ...(shown === undefined && { unasked: true as const }) };
      }
      return undefined;
    };
    const rehearses = (path: string) => all.flatMap((place) => place.rehearses?.(path) ?? [])[0];
    const rehearsal = { endpoint, isTls, login, secrets: [], placeholder, use, trusted: [], rehearses };
    const beside = all.flatMap((place) => place.beside ?? []);
    return {
      endpoint,
      login,
      isNeeded: isNeeded(endpoint),
      expects,
      inRun: {
        environment: Object.fromEntries(inRun.flatMap(({ environment = {} }) => Object.entries(environment))),
        npmrc: inRun.flatMap(({ npmrc = [] }) => npmrc),
      },
      rehearsals: publishes && expects === undefined ? [rehearsal, ...beside] : [],
      open: () => {
        const secrets = all.flatMap((place) => place.secrets);
        return Promise.resolve({ endpoint, isTls, login, secrets, placeholder, use, trusted: trustedBy(keys) });
      },
    };
  });
}

/** Of several places of a host, each has a question of its own. */
function naming({ pathname }: URL, body: BodyReader): BodyReader {
  const named = <Meaning extends RequestMeaning | ComparedMeaning>(meaning: Meaning): Meaning => {
    if (meaning.type === "compares") return { ...meaning, read: (there) => named(meaning.read(there)) };
    if (meaning.type !== "writes") return meaning;
    const { what, follows } = meaning;
    const more = follows === undefined ? {} : { follows: `${follows} in ${pathname}` };
    return { ...meaning, what: `${what} in ${pathname}`, ...more };
  };
  return {
    ...body,
    read: (bytes, isWhole) => {
      const found = body.read(bytes, isWhole);
      return found && named(found);
    },
  };
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
