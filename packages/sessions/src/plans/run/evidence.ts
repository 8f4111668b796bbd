import type { Redactor } from "@gennai/governance/redaction";

/** Characters of evidence kept for a step or a command; the full output is in the session's tool results. */
const maxCharacters = 4_000;

/** Redacted, then shortened: the beginning and, since failures come last, more of the end. */
export async function boundedEvidence(redactor: Redactor, text: string): Promise<string> {
  const redacted = (await redactor.redact(text)).toWellFormed();
  if (redacted.length <= maxCharacters) return redacted;
  const start = redacted.slice(0, maxCharacters / 4).toWellFormed();
  const end = redacted.slice(-(maxCharacters / 4) * 3).toWellFormed();
  return `${start}\n[… ${redacted.length - maxCharacters} characters left out …]\n${end}`;
}
