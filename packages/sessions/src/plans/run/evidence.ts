import type { Redactor } from "@gennai/governance/redaction";

/** Characters of evidence a plan keeps of a step or a command; the whole output stands in the session's tool results. */
const maxCharacters = 4_000;

/** Redacted, then cut: its beginning and, since failures stand last, more of its end. */
export async function boundedEvidence(redactor: Redactor, text: string): Promise<string> {
  const redacted = (await redactor.redact(text)).toWellFormed();
  if (redacted.length <= maxCharacters) return redacted;
  const start = redacted.slice(0, maxCharacters / 4).toWellFormed();
  const end = redacted.slice(-(maxCharacters / 4) * 3).toWellFormed();
  return `${start}\n[… ${redacted.length - maxCharacters} characters left out …]\n${end}`;
}
