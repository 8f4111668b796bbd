import { certificateVariables } from "@gennai/machine/process/certificate-variables";
import { certificatesIn } from "@gennai/machine/process/certificates-in";
import type { UserKeys } from "./user-keys.ts";

/** Certificates that the user's environment names, in PEM. */
export function trustedBy({ environment }: Pick<UserKeys, "environment">): readonly string[] {
  const files = new Set(certificateVariables.flatMap((name) => environment[name] ?? []));
  return [...files].flatMap((file) => certificatesIn(file) ?? []);
}
