import { readFileSync, statSync } from "node:fs";

const maxBytes = 4 * 1024 * 1024;

/** True for a file in PEM that holds certificates and no key. */
export function holdsOnlyCertificates(file: string): boolean {
  try {
    if (statSync(file).size > maxBytes) return false;
    const kinds = [...readFileSync(file, "latin1").matchAll(/-----BEGIN ([^-]*)-----/g)].map(([, kind]) => kind);
    return kinds.length > 0 && kinds.every((kind) => kind === "CERTIFICATE" || kind === "TRUSTED CERTIFICATE");
  } catch {
    return false;
  }
}
