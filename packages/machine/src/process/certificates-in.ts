import { readFileSync, statSync } from "node:fs";

const maxBytes = 4 * 1024 * 1024;

/** The certificates of a file, in PEM, without keys that may stand beside them; undefined where there are none. */
export function certificatesIn(file: string): string | undefined {
  try {
    if (statSync(file).size > maxBytes) return undefined;
    const found = readFileSync(file, "latin1").match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
    return found === null ? undefined : `${found.join("\n")}\n`;
  } catch {
    return undefined;
  }
}
