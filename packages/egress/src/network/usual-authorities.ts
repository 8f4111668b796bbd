import tls from "node:tls";

/**
 * The authorities that this process trusts by itself and by its environment, in PEM. A list given to a connection replaces them.
 */
export function usualAuthorities(): readonly string[] {
  // Older versions of Node lack this export, so that a named import would fail; they only have their built-in list.
  const { getCACertificates, rootCertificates } = tls;
  return typeof getCACertificates === "function" ? getCACertificates("default") : rootCertificates;
}
