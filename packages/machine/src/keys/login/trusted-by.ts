import { certificateVariables } from "../../process/environment/certificate-variables.ts";
import { certificatesIn } from "../../process/environment/certificates-in.ts";
import type { UserKeys } from "./user-keys.ts";

/** Certificates that the user's environment names, in PEM. */
export function trustedBy({ environment }: Pick<UserKeys, "environment">): readonly string[] {
  const files = new Set(certificateVariables.flatMap((name) => environment[name] ?? []));
  return [...files].flatMap((file) => certificatesIn(file) ?? []);
}
