import { chmodSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Files, TemporaryDirectory } from "@gennai/testkit/temporary-repository";
import { vi } from "vitest";

const own = createRequire(import.meta.url);
const placeOf = (name: string, from = own): string => dirname(from.resolve(`${name}/package.json`));

/** Package managers, in the versions that this package names, below a directory of a home: `yarn` is the first one, or a later one. */
export function managersBelow(
  home: string,
  { laterYarn = false } = {},
): { readonly files: Files; use(directory: TemporaryDirectory): void } {
  const pnpm = placeOf(
    `@pnpm/exe.${process.platform}-${process.arch}`,
    createRequire(own.resolve("pnpm/package.json")),
  );
  const yarn = join(placeOf(laterYarn ? "@yarnpkg/cli-dist" : "yarn"), "bin");
  const started = (text: string): string => `#!/bin/sh\nexec ${text} "$@"\n`;
  return {
    files: {
      [`${home}/bin/pnpm`]: started(join(pnpm, "pnpm")),
      [`${home}/bin/yarn`]: started(`node ${join(yarn, "yarn.js")}`),
    },
    use(directory) {
      const bin = directory.path(`${home}/bin`);
      for (const name of ["pnpm", "yarn"]) chmodSync(join(bin, name), 0o755);
      // The search path is for commands.
      vi.stubEnv("PATH", [bin, process.env["PATH"], pnpm, yarn].join(":"));
    },
  };
}
