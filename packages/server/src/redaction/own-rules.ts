import { privateKeys } from "./private-key.ts";
import type { SecretRange } from "./secret-range.ts";

/**
 * What the kept rule set does not know. Each pattern is linear, names the secret itself in its one group that matched, and
 * needs no more than blanks between a key word and its value. Quotes may be escaped: text is quoted in messages and JSON.
 * Keep it short: a rule that secretlint has does not belong here.
 */
const patterns: readonly { readonly rule: string; readonly pattern: RegExp; readonly mixed?: true }[] = [
  // `Authorization: Bearer …`, `"Authorization":"Basic …"`: any scheme.
  {
    rule: "authorization",
    pattern:
      /\bauthorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,4})?([A-Za-z0-9._~+/=-]{8,})/gi,
  },
  { rule: "bearer", pattern: /\bbearer[ \t]{1,4}["']?([A-Za-z0-9._~+/=-]{16,})/gi, mixed: true },
  // A signed token carries its session whatever stands before it.
  { rule: "jwt", pattern: /\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})/g },
  { rule: "google-api-key", pattern: /\b(AIza[0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])/g },
  // `PASSWORD=…`, `"api_key": "…"`, `token: '…'`: quoted, or without quotes right behind `=`.
  {
    rule: "assignment",
    pattern:
      /(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|session[_-]?id)[A-Za-z0-9_]{0,24}\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}(?:"([^"\s]{8,512})"|'([^'\s]{8,512})'|\\{1,3}"([^"\s\\]{8,512})\\{1,3}")/gi,
    mixed: true,
  },
  {
    rule: "assignment",
    pattern:
      /(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|session[_-]?id)[A-Za-z0-9_]{0,24}=([^\s"'`&;,<>(){}[\]$|\\]{8,512})/gi,
    mixed: true,
  },
];

export function ownRules(text: string): readonly SecretRange[] {
  const found: SecretRange[] = [...privateKeys(text)];
  for (const { rule, pattern, mixed } of patterns) {
    for (const match of text.matchAll(pattern)) {
      const secret = match[1] ?? match[2] ?? match[3];
      if (secret === undefined) continue;
      // Names and words of code are no secrets: a secret mixes letters and digits.
      if (mixed && !(/\d/.test(secret) && /[A-Za-z]/.test(secret))) continue;
      if (/^(?:process|import|config|env|self|this|os)\.|^\$|^\[REDACTED:/.test(secret)) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      found.push({ start, end: start + secret.length, rule });
    }
  }
  return found;
}
