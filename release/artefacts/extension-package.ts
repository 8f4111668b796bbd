import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { buildExtension } from "../../packages/vscode/scripts/build.mjs";
import type { Program } from "../../scripts/lib/program.mjs";
import { filesBelow } from "../files-below.ts";
import type { SourceState } from "../source-state.ts";

/** The built extension, before it is packed. */
export interface ExtensionBuild {
  /** Paths relative to the repository of all that went in. */
  readonly inputs: readonly string[];
  /** Gives the bytes of the VSIX, with the licences of others in it. Throws when it is too large. */
  pack(thirdPartyLicenses: Uint8Array): Uint8Array;
}

/** What the extension brings besides its code. */
const brought = ["package.json", "CHANGELOG.md", "README.md", ".vscodeignore", "media", "walkthrough"];

/**
 * Builds the extension, which brings the program.
 * @param scratch a directory; the checkout's own `dist` stays as it is
 */
export async function buildExtensionPackage(
  root: string,
  source: SourceState,
  { program, scratch }: { readonly program: Program; readonly scratch: string },
): Promise<ExtensionBuild> {
  const from = join(root, "packages", "vscode");
  const stage = join(scratch, "extension");
  mkdirSync(stage);
  for (const name of brought) cpSync(join(from, name), join(stage, name), { recursive: true });
  copyFileSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  const { inputs } = await buildExtension({ production: true, outDir: join(stage, "dist"), program });
  return {
    inputs: inputs.map((path) => relative(root, path)),
    pack(thirdPartyLicenses) {
      writeFileSync(join(stage, "THIRD_PARTY_LICENSES"), thirdPartyLicenses);
      appendFileSync(join(stage, ".vscodeignore"), "!THIRD_PARTY_LICENSES\n");
      // The archive has the modes of the files, and those depend on who made them.
      for (const file of filesBelow(stage)) chmodSync(join(stage, file), 0o644);
      const vsix = join(scratch, "extension.vsix");
      execFileSync(process.execPath, [join(from, "scripts", "vsix.mjs"), stage, vsix], {
        stdio: ["ignore", "ignore", "inherit"],
        // The archive has local times, and names in the order of the language.
        env: { ...process.env, SOURCE_DATE_EPOCH: String(source.time), TZ: "UTC", LC_ALL: "C" },
      });
      return readFileSync(vsix);
    },
  };
}
