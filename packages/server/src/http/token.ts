import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ExpectedError } from "@gennai/machine/expected-error";
import { readPrivateFile } from "@gennai/machine/private-file";

/** How the server knows its clients. `none` only by the user's explicit `--no-auth`. */
export type ServerToken =
  | {
      readonly type: "token";
      readonly token: string;
      readonly source: "environment" | "file" | "random";
      readonly weak: boolean;
    }
  | { readonly type: "none" };

/** Thrown when the token the user gave cannot be used. */
export class TokenError extends ExpectedError {
  override readonly name = "TokenError";
  readonly code: "bad_token" | "conflicting_token";
  readonly isWrongInput = true;

  constructor(code: TokenError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const TOKEN_VARIABLE = "GENNAI_AUTH_TOKEN";

/** RFC 6750's characters, so that the token travels in a header as it is. */
const TOKEN_SYNTAX = /^[A-Za-z0-9\-._~+/]{1,1024}={0,2}$/;
/** Below 128 bits of base64url a token can be guessed. */
const STRONG_LENGTH = 22;

/** 256 random bits, base64url: 43 characters. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * The server's token: from `GENNAI_AUTH_TOKEN`, from the token file (private, see `readPrivateFile`), or a new one. Removes the
 * variable from `environment`, so that no child process inherits it. `weak` asks for a warning: the user's token is short.
 * Throws `TokenError` if it has invalid characters or contradicts `noAuth`, `UnsafeFileError` for a file that others can
 * access.
 */
export async function takeServerToken(options: {
  readonly environment: Record<string, string | undefined>;
  readonly tokenFile?: string;
  readonly noAuth?: boolean;
}): Promise<ServerToken> {
  const fromEnvironment = options.environment[TOKEN_VARIABLE] || undefined;
  delete options.environment[TOKEN_VARIABLE];
  if (options.noAuth === true) {
    if (fromEnvironment === undefined && options.tokenFile === undefined) return { type: "none" };
    throw new TokenError("conflicting_token", "--no-auth contradicts the token that is set: remove one of the two");
  }
  if (fromEnvironment !== undefined) return usable(fromEnvironment, "environment");
  if (options.tokenFile !== undefined) return usable((await readPrivateFile(options.tokenFile)).trim(), "file");
  return { type: "token", token: createToken(), source: "random", weak: false };
}

/** The server's copy of its token, for comparing. */
export type TokenDigest = Uint8Array;

export function digestToken(token: string): TokenDigest {
  return createHash("sha256").update(token).digest();
}

/** Takes the same time whatever the candidate is: digests have one length. */
export function matchesToken(candidate: string | undefined, expected: TokenDigest): boolean {
  const equal = timingSafeEqual(digestToken(candidate ?? ""), expected);
  return equal && candidate !== undefined;
}

function usable(token: string, source: "environment" | "file"): ServerToken {
  if (!TOKEN_SYNTAX.test(token)) {
    const place = source === "environment" ? `the variable ${TOKEN_VARIABLE}` : "the token file";
    throw new TokenError("bad_token", `${place} holds no usable token: use letters, digits and -._~+/ only`);
  }
  return { type: "token", token, source, weak: token.length < STRONG_LENGTH };
}
