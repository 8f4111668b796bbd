import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Program } from "../../scripts/lib/program.mjs";
import { filesBelow } from "../files-below.ts";
import type { SourceState } from "../source-state.ts";
import type { ExternalPackage, ExternalPackages } from "./bill-of-materials.ts";
import type { TarEntry } from "./tarball.ts";

const versions = z.record(z.string(), z.string());
const manifestSchema = z.object({
  description: z.string(),
  license: z.string(),
  dependencies: versions.default({}),
  optionalDependencies: versions.default({}),
});

/** What the package holds but for the licences of others, by path in it. */
export function commandLinePackage(root: string, source: SourceState, { directory }: Program): readonly TarEntry[] {
  const besides = (name: string) => readFileSync(join(import.meta.dirname, name));
  return [
    ...filesBelow(directory).map((file) => ({ path: `dist/${file}`, bytes: readFileSync(join(directory, file)) })),
    { path: "bin/gennai.mjs", bytes: besides("launcher.mjs"), executable: true },
    { path: "bin/node-package.mjs", bytes: besides("node-package.mjs") },
    { path: "package.json", bytes: jsonBytes(packageManifest(root, source)) },
    { path: "README.md", bytes: besides("package-readme.md") },
    ...["LICENSE", "CHANGELOG.md"].map((name) => ({ path: name, bytes: readFileSync(join(root, name)) })),
  ];
}

/** What `npm install` reads. Only what cannot be bundled is a dependency: programs for one platform each. */
function packageManifest(root: string, source: SourceState): object {
  const { description, license } = readManifest(root, "packages/cli/package.json");
  const { dependencies } = readManifest(root, "packages/machine/package.json");
  return {
    name: "gennai",
    version: source.version,
    description,
    license,
    keywords: ["agent", "governance", "coding agent", "ai"],
    type: "module",
    bin: { gennai: "bin/gennai.mjs" },
    engines: { node: ">=20.11" },
    dependencies: { [ripgrep]: dependencies[ripgrep] },
    optionalDependencies: readManifest(root, "package.json").optionalDependencies,
  };
}

const ripgrep = "@vscode/ripgrep";

/** What npm installs beside the package, with what each of them brings along. */
export function externalPackages(root: string, dependenciesOf: (id: string) => readonly string[]): ExternalPackages {
  const ripgrepId = `${ripgrep}@${readManifest(root, "packages/machine/package.json").dependencies[ripgrep] ?? ""}`;
  const nodes = Object.entries(readManifest(root, "package.json").optionalDependencies);
  const optional = [...dependenciesOf(ripgrepId), ...nodes.map(([name, version]) => `${name}@${version}`)];
  // Not all of them are installed here, so that their manifests cannot be asked.
  const license = "MIT";
  const entries = optional.map((id): [string, ExternalPackage] => [id, { license, optional: true }]);
  return new Map([[ripgrepId, { license, optional: false }], ...entries]);
}

function readManifest(root: string, path: string): z.infer<typeof manifestSchema> {
  return manifestSchema.parse(JSON.parse(readFileSync(join(root, path), "utf8")));
}

function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}
