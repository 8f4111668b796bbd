import type { Endpoint } from "@gennai/governance/endpoint";

/**
 * A user's login at one host and port. A run never has it: it sends a placeholder, or nothing, and this process adds the login to
 * the requests that the user agreed to.
 */
export interface AddedLogin {
  readonly endpoint: Endpoint;
  /** Whether the host speaks TLS there. */
  readonly isTls: boolean;
  /** The login, in words for people. Never the secret. */
  readonly login: string;
  /** Texts that no answer to the run may contain. */
  readonly secrets: readonly string[];
  /** The random text that the run has in place of the secret. */
  readonly placeholder: string;
  /** What a request may do with the login; undefined for one that is refused. */
  use(request: LoginRequest): LoginUse | undefined;
  /** Certificates that the user trusts besides the usual ones, in PEM. */
  readonly trusted: readonly string[];
  /**
   * Nothing is sent: of what is read only the documents that this knows are there, and what would be changed is told to whoever
   * asks. @param path
   */
  rehearses?(path: string): string | undefined;
}

/** The beginning of a request, as it came from the run. */
export interface LoginRequest {
  readonly method: string;
  /** Without query, not decoded; `isPlainPath` holds for it. */
  readonly path: string;
  /** With its `?`; empty without one. */
  readonly query: string;
  /** By names in lower case; one that came more than once is not there. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface LoginUse {
  /** Value of the `Authorization` header. */
  readonly authorization: string;
  /** The login is added also where the run sends no placeholder, as some programs do unless they are told to. */
  readonly unasked?: true;
  /** Headers of the request that go on besides the usual ones. */
  readonly headers?: readonly string[];
  /** Absent for a request that reads and has no body. */
  readonly body?: BodyReader;
}

/** Reads what a request does from its body, of which nothing is sent before. */
export interface BodyReader {
  /** Bytes; if it is not clear what the request does after so many, it is refused. */
  readonly most: number;
  /** It is read as it comes, and the rest of it is of no importance. Otherwise it is read when it has ended. */
  readonly early?: true;
  /** Undefined: more of it is needed. @param isWhole it has ended */
  read(bytes: Buffer, isWhole: boolean): RequestMeaning | ComparedMeaning | undefined;
}

export type RequestMeaning =
  /** `body` is sent in place of the one that came, so that nothing is sent that was not read. */
  | { readonly type: "reads"; readonly body?: Buffer }
  /** For the person who is asked. */
  | ({ readonly type: "writes"; readonly body?: Buffer } & SentChange)
  | { readonly type: "refused"; readonly why: string };

/** What it says is seen beside a document of the host as it is now. */
export interface ComparedMeaning {
  readonly type: "compares";
  /** Path and query of the document. */
  readonly path: string;
  /** JSON that is sent to be told the document; without it, that is asked by GET. */
  readonly query?: string;
  /** @param there undefined if the host says that there is none, or is not asked */
  read(there: Buffer | undefined): RequestMeaning;
}

/** Characters: more than a person reads in a question is not asked about. */
export const maxShown = 4_000;

export interface SentChange {
  /** As `push 1234abc to refs/heads/main`. */
  readonly what: string;
  /** Its program may be told that it was done before it is, so that all that belongs to it is seen, and asked about once. */
  readonly pretends?: true;
  /** It belongs to this change: nobody is asked about it where that was sent. */
  readonly follows?: string;
}

/** A request that would change something with a login, and waits for a person. */
export interface HeldRequest extends SentChange {
  readonly endpoint: Endpoint;
  readonly login: string;
  /** Aborts when it cannot be sent any more. */
  readonly signal: AbortSignal;
}

/** Asks a person whether a request is sent; resolves with why it is not, or with `pretended` if its program is told that it was. */
export type AskToSend = (request: HeldRequest) => Promise<string | typeof pretended | undefined>;

export const pretended = Symbol("pretended");

/** Whether a request says of its body that it is JSON, so that no server reads it as a form. */
export function saysJson({ headers }: LoginRequest): boolean {
  return /^application\/json(?:; ?charset=utf-8)?$/i.test(headers["content-type"] ?? "");
}

/**
 * True if no part of a path leads up or elsewhere, however a server reads it, and none hides a plain letter;
 * `%2f` is allowed only in npm's names (`@scope%2fname`).
 */
export function isPlainPath(path: string): boolean {
  if (!/^\/[\w.@~!$'()*+,;=:%/-]*$/.test(path) || /%(?![0-9a-f]{2})/i.test(path)) return false;
  const parts = path.slice(1).split("/");
  const isPlain = (part: string): boolean => {
    const read = part.replace(/^@[\w.~-]+%2f(?=[\w.~-]+$)/i, "");
    // Some servers take `..;x`, or `..` with a blank behind it, for the way up; and bytes that are no UTF-8 for other signs.
    const leadsUp = /^\.{1,2}(?:;.*)?(?:%20)*$/.test(read);
    return !/%(?:2[def]|5[cf]|[01]|25|3[\dbf]|23|[46][1-9a-f]|[57][\da]|7f)/i.test(read) && !leadsUp && isUtf8(part);
  };
  // A trailing slash has no meaning.
  return parts.every((part, at) => (part === "" ? at === parts.length - 1 : isPlain(part)));
}

function isUtf8(part: string): boolean {
  try {
    return decodeURIComponent(part) !== "";
  } catch {
    return false;
  }
}
