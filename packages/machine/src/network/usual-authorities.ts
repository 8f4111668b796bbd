import tls from "node:tls";

/** Whom this process believes by itself, and by its environment, in PEM. A list that is given to a connection takes its place. */
export function usualAuthorities(): readonly string[] {
  // Older versions of Node have no such export, which a named import would not outlive, and say only what they bring.
  const { getCACertificates, rootCertificates } = tls;
  return typeof getCACertificates === "function" ? getCACertificates("default") : rootCertificates;
}
