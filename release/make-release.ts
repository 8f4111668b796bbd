import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram, type Program } from "../scripts/lib/program.mjs";
import { billOfMaterials } from "./artefacts/bill-of-materials.ts";
import { bundledPackages } from "./artefacts/bundled-packages.ts";
import { commandLinePackage, externalPackages } from "./artefacts/command-line-package.ts";
import { containerContext } from "./artefacts/container-context.ts";
import { buildExtensionPackage } from "./artefacts/extension-package.ts";
import { readLockFile } from "./artefacts/lock-file.ts";
import { tarball } from "./artefacts/tarball.ts";
import { thirdPartyLicenses } from "./artefacts/third-party-licenses.ts";
import { ReleaseError } from "./release-error.ts";
import type { SigningKey } from "./signing-key.ts";
import type { SourceState } from "./source-state.ts";
import { keyFile, sha256, sumsFile } from "./verify.mjs";

/** Names of what a release publishes, without checksums and signatures. */
export function artefactNames(version: string) {
  return {
    commandLine: `gennai-${version}.tgz`,
    extension: `gennai-vscode-${version}.vsix`,
    container: `gennai-${version}-container.tar.gz`,
    bill: `gennai-${version}.cdx.json`,
    licenses: "THIRD_PARTY_LICENSES",
    verify: "verify.mjs",
  } as const;
}

/** Makes all artefacts, by name. The same commit gives the same bytes. Rejects with `ReleaseError`. */
export async function makeArtefacts(root: string, source: SourceState): Promise<ReadonlyMap<string, Uint8Array>> {
  const scratch = mkdtempSync(join(tmpdir(), "gennai-release-"));
  try {
    const names = artefactNames(source.version);
    const program = await buildProgram({ outDir: join(scratch, "program") });
    const extension = await buildExtensionPackage(root, source, { program, scratch });
    const lock = readLockFile(root);
    const inputs = { [names.commandLine]: program.inputs, [names.extension]: extension.inputs };
    const bundled = bundledPackages(root, inputs);
    const bill = billOfMaterials(source, { bundled, external: externalPackages(root, lock.dependenciesOf), lock });
    const licenses = (artefact: string) =>
      Buffer.from(thirdPartyLicenses(bundled.filter((each) => each.in.includes(artefact))));
    return new Map<string, Uint8Array>([
      [names.commandLine, packCommandLine(root, source, { program, licenses: licenses(names.commandLine) })],
      [names.extension, extension.pack(licenses(names.extension))],
      [names.container, containerContext(root, source)],
      [names.bill, Buffer.from(`${JSON.stringify(bill, undefined, 2)}\n`)],
      [names.licenses, Buffer.from(thirdPartyLicenses(bundled))],
      [names.verify, readFileSync(join(root, "release", "verify.mjs"))],
    ]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Makes the package of the command line alone, from a checkout as it is, and returns its path. Rejects with `ReleaseError`. */
export async function makeCommandLine(root: string, source: SourceState, out: string): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), "gennai-pack-"));
  try {
    const { commandLine } = artefactNames(source.version);
    const program = await buildProgram({ outDir: scratch });
    const bundled = bundledPackages(root, { [commandLine]: program.inputs });
    const licenses = Buffer.from(thirdPartyLicenses(bundled));
    const file = join(out, commandLine);
    writeFileSync(file, packCommandLine(root, source, { program, licenses }));
    return file;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function packCommandLine(
  root: string,
  source: SourceState,
  { program, licenses }: { readonly program: Program; readonly licenses: Uint8Array },
): Uint8Array {
  const { licenses: path } = artefactNames(source.version);
  const entries = [...commandLinePackage(root, source, program), { path, bytes: licenses }];
  return tarball(
    entries.map((entry) => ({ ...entry, path: `package/${entry.path}` })),
    source.time,
  );
}

/** Writes artefacts, their checksums, the signature and the public key. Throws `ReleaseError` when something lies there. */
export function publish(out: string, artefacts: ReadonlyMap<string, Uint8Array>, key: SigningKey): void {
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new ReleaseError(`${out} is not empty: name another --out.`);
  mkdirSync(out, { recursive: true });
  for (const [name, bytes] of artefacts) writeFileSync(join(out, name), bytes);
  const lines = [...artefacts].map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
  // Sorted by name, which begins behind digest and spaces.
  lines.sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1));
  writeFileSync(join(out, sumsFile), lines.join(""));
  writeFileSync(join(out, keyFile), key.publicPem);
  key.signFile(out, sumsFile);
}
