import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { ExpectedError } from "@gennai/machine/expected-error";
import { readPrivateFile } from "@gennai/machine/private-file";
import { errorMessage } from "@gennai/protocol/error-message";

/** A certificate with its chain, and its key; PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Where they lie. Absolute paths. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** The certificate or its key cannot be used. The message says why. */
class TlsError extends ExpectedError {
  override readonly name = "TlsError";
  readonly code = "bad_certificate";
  readonly isWrongInput = true;

  constructor(message: string, cause?: unknown) {
    super(message, { cause, hint });
  }
}

const hint =
  "Give --tls-cert a PEM file with the certificate and its chain, and --tls-key its key, which only you can read.";

/** Reads and checks them. The key must be a file that only this user can read. Throws `TlsError`. */
export async function readTlsFiles(files: TlsFiles): Promise<TlsIdentity & { readonly validUntil: Date }> {
  const [key, cert] = await Promise.all([readPrivateFile(files.key), readFile(files.cert, "utf8")]).catch(
    (cause: unknown) => {
      throw new TlsError(errorMessage(cause), cause);
    },
  );
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new TlsError(
      `${files.cert} and ${files.key} are no certificate and its key in PEM: ${errorMessage(cause)}`,
      cause,
    );
  }
  const validUntil = certificate.validToDate;
  if (validUntil.getTime() < Date.now()) {
    throw new TlsError(`The certificate in ${files.cert} ended on ${validUntil.toISOString()}: renew it.`);
  }
  return { cert, key, validUntil };
}
