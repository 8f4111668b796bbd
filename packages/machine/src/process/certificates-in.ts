import { readFileSync, statSync } from "node:fs";

const maxBytes = 4 * 1024 * 1024;
/** As many files as one machine names. */
const maxKnown = 8;

/** By file: its state and certificates, so that a file needed before each command is read only when it changed. */
const known = new Map<string, { readonly state: string; readonly found: string | undefined }>();

/** The certificates of a file, in PEM, without any keys in it; undefined if there are none. */
export function certificatesIn(file: string): string | undefined {
  try {
    const { dev, ino, size, ctimeNs } = statSync(file, { bigint: true });
    if (size > maxBytes) return undefined;
    const state = [dev, ino, size, ctimeNs].join(" ");
    const before = known.get(file);
    if (before?.state === state) return before.found;
    const found = readCertificates(file);
    if (known.size >= maxKnown) known.clear();
    known.set(file, { state, found });
    return found;
  } catch {
    return undefined;
  }
}

function readCertificates(file: string): string | undefined {
  const found = readFileSync(file, "latin1").match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  return found === null ? undefined : `${found.join("\n")}\n`;
}
