// Provisional: its owner replaces this file.
import type { Redactor } from "@gennai/governance/redaction";

export async function createRedactor(options: { readonly secrets: readonly string[] }): Promise<Redactor> {
  const redact = (text: string) => options.secrets.reduce((rest, secret) => rest.replaceAll(secret, "[REDACTED:token]"), text);
  return { redact, stream: () => ({ push: redact, end: () => "" }) };
}
