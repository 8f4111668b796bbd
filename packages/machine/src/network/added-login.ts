import type { Endpoint } from "@gennai/governance/network/endpoint";

/**
 * A user's login for a package registry. A run may read from the registry without seeing the login: this process adds it to the
 * run's requests.
 */
export interface AddedLogin {
  readonly endpoint: Endpoint;
  /** Whether the registry speaks TLS. */
  readonly isTls: boolean;
  /** The login, in words for people. Never the secret. */
  readonly login: string;
  /** Texts that no answer to the run may contain. */
  readonly secrets: readonly string[];
  /**
   * The `Authorization` header for a path; undefined if the path is not one by which packages are read.
   * @param path as requested, without query, not decoded
   */
  authorizationFor(path: string): string | undefined;
  /** Environment that makes a program send requests at all; it contains no login. */
  readonly environment: Readonly<Record<string, string>>;
  /** Certificates that the user trusts besides the usual ones, in PEM. */
  readonly trusted: readonly string[];
}

/**
 * True if no part of a path leads up or elsewhere, however a server reads it; `%2f` is allowed only in npm's names
 * (`@scope%2fname`).
 */
export function isPlainPath(path: string): boolean {
  if (!/^\/[\w.@~!$'()*+,;=:%/-]*$/.test(path) || /%(?![0-9a-f]{2})/i.test(path)) return false;
  const parts = path.slice(1).split("/");
  const isPlain = (part: string): boolean => {
    const read = part.replace(/^@[\w.~-]+%2f(?=[\w.~-]+$)/i, "");
    return !/%(?:2e|2f|5c|00|25|3f|23)/i.test(read) && !/^\.{1,2}$/.test(read);
  };
  // Some servers treat two slashes as one; a trailing slash has no meaning.
  return parts.every((part, at) => (part === "" ? at === parts.length - 1 : isPlain(part)));
}
