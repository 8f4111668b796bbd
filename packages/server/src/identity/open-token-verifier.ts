import { ExpectedError } from "@gennai/machine/expected-error";
import { errorMessage } from "@gennai/protocol/error-message";
import type { JWTVerifyGetKey } from "jose";
import { keysAt, keysInFile, keysOfIssuer, keyUrl } from "./issuer-keys.ts";
import { TokenVerifier, type TokenVerifierOptions } from "./token-verifier.ts";

/** The issuer of tokens, and how to find its keys. */
export interface IssuerOptions extends Pick<TokenVerifierOptions, "issuer" | "audiences" | "claims" | "clockSkew"> {
  /** Location of the issuer's keys: a URL, or the absolute path of a file. Without it, the issuer is asked. */
  readonly jwks?: string | undefined;
}

/** The issuer's keys cannot be looked for there. The message says why. */
class BadIssuerKeys extends ExpectedError {
  override readonly name = "BadIssuerKeys";
  readonly code = "bad_issuer_keys";
  readonly isWrongInput = true;
}

/** Throws `BadIssuerKeys`. A URL is asked only once a token comes. */
export function openTokenVerifier({ jwks, ...options }: IssuerOptions): TokenVerifier {
  return new TokenVerifier({ ...options, keys: keysOf(options.issuer, jwks) });
}

function keysOf(issuer: string, jwks: string | undefined): JWTVerifyGetKey {
  try {
    if (jwks === undefined) {
      keyUrl(issuer);
      return keysOfIssuer(issuer);
    }
    return /^https?:/.test(jwks) ? keysAt(keyUrl(jwks)) : keysInFile(jwks);
  } catch (cause) {
    const hint = "Give --jwks the https URL or the file of the issuer's public keys (a JSON Web Key Set).";
    throw new BadIssuerKeys(errorMessage(cause), { cause, hint });
  }
}
