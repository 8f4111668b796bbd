import { createHash } from "node:crypto";
import type { Redactor } from "@gennai/governance/redaction";

/** Replaces a name that may not be shown, or exceeds the limit. */
export const otherName = "other";

const plain = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,79}$/;

/** Each becomes a label: a model that invents names must not fill the memory. */
const mostNames = 200;

/**
 * External names (models, external tools) in telemetry: short, plain, with nothing that the redactor masks, and of limited
 * number. Others become `other`.
 */
export class Names {
  readonly #redactor: Redactor;
  readonly #known = new Map<string, Promise<string>>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Never rejects. */
  of(name: string): Promise<string> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (!plain.test(name) || this.#known.size >= mostNames) return Promise.resolve(otherName);
    const checked = this.#redactor.redact(name).then(
      (redacted) => (redacted === name ? name : otherName),
      () => otherName,
    );
    this.#known.set(name, checked);
    return checked;
  }
}

/** Distinguishes sessions without revealing them: the first 16 hexadecimal digits of the id's SHA-256. */
export function pseudonym(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 16);
}
