import { getCACertificates, rootCertificates } from "node:tls";

/** Whom this process believes by itself, and by its environment, in PEM. A list that is given to a connection takes its place. */
export function usualAuthorities(): readonly string[] {
  // Older versions of Node say only what they bring.
  return typeof getCACertificates === "function" ? getCACertificates("default") : rootCertificates;
}
