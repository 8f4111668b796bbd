import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";

const code = /\.(ts|tsx|mjs|js|cjs)$/;
/** Not what imports types alone: nothing of it is left when the file runs. */
const named =
  /(?<!\b(?:import|export) type [^;"]*)\b(?:(?:from|import)\s*\(?\s*"([^"\n]+)"|new URL\(\s*"([^"\n]+)",\s*import\.meta\.url)/g;

/**
 * Which files name a file: import it, lazily too, or make a URL of it, as a test does of a program that it starts and of a text that
 * it reads. What is put together of words that are not in one string nobody sees.
 * @param {string} root of the checkout
 * @param {readonly string[]} files paths from there, with `/`; also those that are gone
 * @returns {ReadonlyMap<string, ReadonlySet<string>>} by the file that is named; what nobody names is not in it
 */
export function importersIn(root, files) {
  const known = new Set(files);
  const resolve = resolverIn(root);
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const file of files) {
    if (!code.test(file) || !existsSync(join(root, file))) continue;
    for (const [, specifier, url] of readFileSync(join(root, file), "utf8").matchAll(named)) {
      const target = specifier === undefined ? beside(file, url ?? "") : resolve(file, specifier);
      if (target === undefined || !known.has(target)) continue;
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  }
  return importers;
}

/** Node itself knows what names with `#` and those of packages of ours mean. @param {string} root */
function resolverIn(root) {
  /** @type {Map<string, string | undefined>} */
  const found = new Map();
  /** @param {string} file @param {string} specifier */
  return (file, specifier) => {
    if (specifier.startsWith(".")) return beside(file, specifier);
    if (!/^(#|@gennai\/)/.test(specifier)) return;
    // A package is `packages/NAME`, `test` or `examples`.
    const place = file.split("/").slice(0, file.startsWith("packages/") ? 2 : 1);
    const key = `${place.join("/")}\0${specifier}`;
    if (!found.has(key)) found.set(key, resolved(join(root, ...place, "package.json"), specifier, root));
    return found.get(key);
  };
}

/** @param {string} manifest @param {string} specifier @param {string} root */
function resolved(manifest, specifier, root) {
  try {
    const path = createRequire(manifest).resolve(specifier);
    return path.slice(root.length + 1).replaceAll("\\", "/");
  } catch {
    return;
  }
}

/** @param {string} file @param {string} relative */
function beside(file, relative) {
  return posix.join(posix.dirname(file), relative);
}
