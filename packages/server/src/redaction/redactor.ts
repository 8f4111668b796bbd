import type { LiveRedactor } from "@gennai/governance/redaction";
import { keptRules } from "./kept-rules.ts";
import { createLiveRedactionStream } from "./live-redaction-stream.ts";
import { ownRules } from "./own-rules.ts";
import { createRedactionStream } from "./redaction-stream.ts";
import { type FindSecrets, mask, mergeRanges, type SecretRange } from "./secret-range.ts";

export interface LearningRedactor extends LiveRedactor {
  /** Masks this string from now on. */
  learn(secret: string): void;
}

/** Shorter strings stand in ordinary text by chance: masking them would mask everything. */
const shortestSecret = 8;

/** Words that some rule begins with, or a run long enough to be a token. Without one of these there is no secret. */
const suspicious =
  /[A-Za-z0-9_+/=.-]{20}|:\/\/|-----BEGIN|authorization|bearer|passw|passphrase|secret|token|api[_-]?key|access[_-]?key|session[_-]?id|xox[a-z]-|SG\./i;

/**
 * Masks secrets as `[REDACTED:<rule>]`, by secretlint's rules and a few of our own.
 *
 * @param options.secrets exact strings that are masked wherever they stand, e.g. the server's own token; those of
 *   fewer than 8 characters are left alone
 */
export async function createRedactor(
  options: { readonly secrets?: readonly string[] } = {},
): Promise<LearningRedactor> {
  const exact = exactSecrets(options.secrets ?? []);
  const find: FindSecrets = async (text) => {
    const known = exact.flatMap((secret) => occurrences(text, secret));
    if (!suspicious.test(text)) return mergeRanges(known);
    return mergeRanges([...known, ...ownRules(text), ...(await keptRules(text))]);
  };
  return {
    redact: async (text) => mask(text, await find(text)),
    stream: () => createRedactionStream(find, exact),
    live: () => createLiveRedactionStream(find, exact),
    learn: (secret) => {
      const known = exactSecrets([...exact, secret]);
      // Streams that are open hold this very list.
      exact.splice(0, exact.length, ...known);
    },
  };
}

/** Longest first, so that a secret which begins like another is masked whole; also as they stand in JSON. */
function exactSecrets(secrets: readonly string[]): string[] {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  return [...new Set(forms)].filter((secret) => secret.length >= shortestSecret).sort((a, b) => b.length - a.length);
}

function occurrences(text: string, secret: string): readonly SecretRange[] {
  const found: SecretRange[] = [];
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
    found.push({ start: at, end: at + secret.length, rule: "known-secret" });
  }
  return found;
}
