import type { Endpoint } from "@gennai/governance/network/endpoint";

/**
 * A login of the user's for a registry of packages that a run may read from, without seeing the login: this process adds it to what the
 * run asks for.
 */
export interface AddedLogin {
  readonly endpoint: Endpoint;
  /** Whether the registry speaks TLS. */
  readonly isTls: boolean;
  /** The login, in words for people. Never the secret. */
  readonly login: string;
  /** What no answer may say to the run. */
  readonly secrets: readonly string[];
  /**
   * What `Authorization` says there; undefined for what is not read as a package.
   * @param path as it was asked for, without a query, decoded by nobody
   */
  authorizationFor(path: string): string | undefined;
  /** What the program needs to see to ask at all, without being any login. */
  readonly environment: Readonly<Record<string, string>>;
  /** Certificates that the user believes besides the usual ones, in PEM. */
  readonly trusted: readonly string[];
}

/**
 * Contains no part that leads up or elsewhere, however a server reads it; `%2f` is allowed only in npm's names
 * (`@scope%2fname`).
 */
export function isPlainPath(path: string): boolean {
  if (!/^\/[\w.@~!$'()*+,;=:%/-]*$/.test(path) || /%(?![0-9a-f]{2})/i.test(path)) return false;
  const parts = path.slice(1).split("/");
  const isPlain = (part: string): boolean => {
    const read = part.replace(/^@[\w.~-]+%2f(?=[\w.~-]+$)/i, "");
    return !/%(?:2e|2f|5c|00|25|3f|23)/i.test(read) && !/^\.{1,2}$/.test(read);
  };
  // Some servers treat two slashes as one; a trailing one has no meaning.
  return parts.every((part, at) => (part === "" ? at === parts.length - 1 : isPlain(part)));
}
