import { createHash } from "node:crypto";
import type { Redactor } from "@gennai/governance/redaction";

/** What stands for a name that may not be shown, or for one name too many. */
export const otherName = "other";

const plain = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,79}$/;

/** Each becomes a label: a model that makes up names must not fill anybody's memory. */
const mostNames = 200;

/**
 * Names that come from outside (models, tools of others) as they may stand in telemetry: short, plain, without anything the
 * redactor masks, and of limited number. What is not becomes `other`.
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

/** Tells sessions apart without telling which they are: the first 16 hexadecimal digits of the id's SHA-256. */
export function pseudonym(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 16);
}
