import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** @param {...string} parts @returns {string} an absolute path inside the checkout */
export function inRepository(...parts) {
  return join(root, ...parts);
}
