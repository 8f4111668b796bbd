import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { ReleaseError } from "../release-error.ts";

const versions = z.record(z.string(), z.string()).default({});
const lockSchema = z.object({
  importers: z.record(
    z.string(),
    z.object({
      dependencies: z.record(z.string(), z.object({ version: z.string() })).default({}),
      optionalDependencies: z.record(z.string(), z.object({ version: z.string() })).default({}),
    }),
  ),
  packages: z.record(z.string(), z.object({ resolution: z.object({ integrity: z.string().optional() }) })),
  snapshots: z.record(z.string(), z.object({ dependencies: versions, optionalDependencies: versions })),
});

/** What pnpm's lock file says about packages, each named `name@version`. */
export interface LockFile {
  /** As npm writes it: `sha512-` and base64. Throws `ReleaseError` when the lock file does not know the package. */
  integrity(id: string): string;
  /** Packages that this one depends on, sorted. */
  dependenciesOf(id: string): readonly string[];
  /** Packages that the project's own packages name as dependencies. */
  readonly direct: ReadonlySet<string>;
}

/** Throws `ReleaseError`. @param root of the checkout */
export function readLockFile(root: string): LockFile {
  const lock = lockSchema.parse(parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8")));
  const dependencies = new Map<string, Set<string>>();
  for (const [key, snapshot] of Object.entries(lock.snapshots)) {
    const found = dependencies.get(withoutPeers(key)) ?? new Set<string>();
    dependencies.set(withoutPeers(key), found);
    for (const [name, version] of Object.entries({ ...snapshot.dependencies, ...snapshot.optionalDependencies })) {
      found.add(packageId(name, version));
    }
  }
  const importers = Object.entries(lock.importers).filter(([path]) => path === "." || path.startsWith("packages/"));
  const direct = importers.flatMap(([, importer]) =>
    Object.entries({ ...importer.dependencies, ...importer.optionalDependencies }).map(([name, { version }]) =>
      packageId(name, version),
    ),
  );
  return {
    integrity(id) {
      const integrity = lock.packages[id]?.resolution.integrity;
      if (integrity === undefined) throw new ReleaseError(`pnpm-lock.yaml does not know ${id}: run pnpm install.`);
      return integrity;
    },
    dependenciesOf: (id) => [...(dependencies.get(id) ?? [])].sort(),
    direct: new Set(direct),
  };
}

/** An alias names another package: `npm:other@1.0.0` is written as `other@1.0.0` in the place of the version. */
function packageId(name: string, version: string): string {
  const plain = withoutPeers(version);
  return plain.includes("@", 1) ? plain : `${name}@${plain}`;
}

/** `zod@4.6.7(other@1.0.0)` is `zod@4.6.7`, chosen for one set of peers. */
function withoutPeers(key: string): string {
  return key.split("(", 1)[0] ?? key;
}
