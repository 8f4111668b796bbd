import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { readPrivateFile } from "@gennai/machine/private-file";

/** A certificate with its chain, and its key; PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** The certificate or its key cannot be used. The message says why. */
class TlsError extends Error {
  override readonly name = "TlsError";
  readonly code = "bad_certificate";
}

/**
 * Reads and checks them. The key must be a file that only this user can read. Throws `TlsError`, `UnsafeFileError`, or the file
 * system's error when one is not there.
 */
export async function readTlsFiles(files: {
  readonly cert: string;
  readonly key: string;
}): Promise<TlsIdentity & { readonly validUntil: Date }> {
  const key = await readPrivateFile(files.key);
  const cert = await readFile(files.cert, "utf8");
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new TlsError(`${files.cert} and ${files.key} are no certificate and its key in PEM: ${reasonOf(cause)}`, {
      cause,
    });
  }
  const validUntil = certificate.validToDate;
  if (validUntil.getTime() < Date.now()) {
    throw new TlsError(`The certificate in ${files.cert} ended on ${validUntil.toISOString()}: renew it.`);
  }
  return { cert, key, validUntil };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
