import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ReleaseError } from "../release-error.ts";

/** A package of others whose code is in an artefact. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX identifier or expression. */
  readonly license: string;
  /** Texts of its licence and notices, at least one. */
  readonly licenseTexts: readonly string[];
  readonly homepage: string | undefined;
  /** Names of the artefacts. */
  readonly in: readonly string[];
}

/** Artefact, and the paths relative to the repository of everything that went into it. */
export type BundleInputs = Readonly<Record<string, readonly string[]>>;

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  homepage: z.string().optional(),
});

/** Licences that go together with MIT in one file, given that their texts go along. */
const accepted = new Set([
  ...["MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "Unlicense", "CC0-1.0"],
  // Icons.
  "CC-BY-4.0",
]);

/**
 * The packages that the bundles hold, by what the bundler says it read; sorted. Throws `ReleaseError` for one without a licence
 * or with one that is not known to be all right.
 */
export function bundledPackages(root: string, inputs: BundleInputs): readonly BundledPackage[] {
  /** Artefacts by the directory of the package. */
  const found = new Map<string, Set<string>>();
  for (const [artefact, paths] of Object.entries(inputs)) {
    for (const path of paths) {
      const directory = packageDirectory(path);
      if (directory === undefined) continue;
      found.set(directory, (found.get(directory) ?? new Set()).add(artefact));
    }
  }
  // One package may lie there more than once, for different peers.
  const packages = new Map<string, BundledPackage>();
  for (const [directory, artefacts] of found) {
    const described = describe(join(root, directory));
    const id = `${described.name}@${described.version}`;
    const all = new Set([...(packages.get(id)?.in ?? []), ...artefacts]);
    packages.set(id, { ...described, in: [...all].sort() });
  }
  return [...packages.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** `a/node_modules/b/node_modules/@c/d/e.js` is of `a/node_modules/b/node_modules/@c/d`. */
function packageDirectory(path: string): string | undefined {
  const [match] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
  return match;
}

function describe(directory: string): Omit<BundledPackage, "in"> {
  const { name, version, license, homepage } = manifestSchema.parse(
    JSON.parse(readFileSync(join(directory, "package.json"), "utf8")),
  );
  if (license === undefined) throw new ReleaseError(`${name} ${version} names no licence: it cannot be shipped.`);
  const alternatives = license.replaceAll(/[()]/g, "").split(" OR ");
  const chosen = alternatives.map((each) => each.split(" AND ")).find((parts) => parts.every((id) => accepted.has(id)));
  if (chosen === undefined) {
    throw new ReleaseError(`${name} ${version} is licensed ${license}: decide whether it may be shipped, and list it.`);
  }
  const brought = readdirSync(directory).filter((file) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(file));
  const texts = brought.length > 0 ? brought.sort().map((file) => join(directory, file)) : ownTexts(name, chosen);
  return { name, version, license, homepage, licenseTexts: texts.map(readText) };
}

/** Files of ours for a package that brings none. */
function ownTexts(name: string, licenses: readonly string[]): readonly string[] {
  return licenses.map((license) => {
    const names = [`${name.replaceAll("/", "+")}-${license}.txt`, `${license}.txt`];
    const file = names.map((each) => join(import.meta.dirname, "licenses", each)).find(existsSync);
    if (file !== undefined) return file;
    throw new ReleaseError(
      `${name} brings no text of its licence: put it into release/artefacts/licenses/${names[0]}.`,
    );
  });
}

function readText(file: string): string {
  return readFileSync(file, "utf8").replaceAll("\r\n", "\n").trim();
}
