import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClient } from "../scripts/lib/client-program.mjs";
import { buildProgram } from "../scripts/lib/program.mjs";
import { billOfMaterials } from "./artefacts/bill-of-materials.ts";
import { bundledPackages } from "./artefacts/bundled-packages.ts";
import { clientPackage } from "./artefacts/client-package.ts";
import { commandLinePackage, externalPackages } from "./artefacts/command-line-package.ts";
import { containerContext } from "./artefacts/container-context.ts";
import { buildExtensionPackage } from "./artefacts/extension-package.ts";
import { readLockFile } from "./artefacts/lock-file.ts";
import { type TarEntry, tarball } from "./artefacts/tarball.ts";
import { thirdPartyLicenses } from "./artefacts/third-party-licenses.ts";
import { ReleaseError } from "./release-error.ts";
import { provenance } from "./release-provenance.ts";
import type { SigningKey } from "./signing-key.ts";
import type { SourceState } from "./source-state.ts";
import { attestationsFile, keyFile, sha256 } from "./verify.mjs";

/** Names of what a release publishes, without what is said of it and the key. */
export function artefactNames(version: string) {
  return {
    commandLine: `gennai-${version}.tgz`,
    client: `gennai-client-${version}.tgz`,
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
    const client = await buildClient({ outDir: join(scratch, "client") });
    const extension = await buildExtensionPackage(root, source, { program, scratch });
    const lock = readLockFile(root);
    const inputs = {
      [names.commandLine]: program.inputs,
      [names.client]: client.inputs,
      [names.extension]: extension.inputs,
    };
    const bundled = bundledPackages(root, inputs);
    const bill = billOfMaterials(source, { bundled, external: externalPackages(root, lock.dependenciesOf), lock });
    const licenses = (artefact: string) =>
      Buffer.from(thirdPartyLicenses(bundled.filter((each) => each.in.includes(artefact))));
    return new Map<string, Uint8Array>([
      [names.commandLine, packed(source, commandLinePackage(root, source, program), licenses(names.commandLine))],
      [names.client, packed(source, clientPackage(root, source, client.directory), licenses(names.client))],
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

/** Makes the packages for npm alone, from a checkout as it is, and returns their paths. Rejects with `ReleaseError`. */
export async function makePackages(root: string, source: SourceState, out: string): Promise<readonly string[]> {
  const scratch = mkdtempSync(join(tmpdir(), "gennai-pack-"));
  try {
    const names = artefactNames(source.version);
    const program = await buildProgram({ outDir: join(scratch, "program") });
    const client = await buildClient({ outDir: join(scratch, "client") });
    const packages = [
      { name: names.commandLine, inputs: program.inputs, entries: commandLinePackage(root, source, program) },
      { name: names.client, inputs: client.inputs, entries: clientPackage(root, source, client.directory) },
    ];
    return packages.map(({ name, inputs, entries }) => {
      const licenses = Buffer.from(thirdPartyLicenses(bundledPackages(root, { [name]: inputs })));
      writeFileSync(join(out, name), packed(source, entries, licenses));
      return join(out, name);
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function packed({ version, time }: SourceState, entries: readonly TarEntry[], licenses: Uint8Array): Uint8Array {
  const all = [...entries, { path: artefactNames(version).licenses, bytes: licenses }];
  return tarball(
    all.map((entry) => ({ ...entry, path: `package/${entry.path}` })),
    time,
  );
}

/** Writes artefacts, their signed provenance and the public key. Throws `ReleaseError` when something lies there. */
export function publish(
  out: string,
  artefacts: ReadonlyMap<string, Uint8Array>,
  { root, source, key }: { readonly root: string; readonly source: SourceState; readonly key: SigningKey },
): void {
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new ReleaseError(`${out} is not empty: name another --out.`);
  mkdirSync(out, { recursive: true });
  for (const [name, bytes] of artefacts) writeFileSync(join(out, name), bytes);
  const subject = [...artefacts].map(([name, bytes]) => ({ name, digest: { sha256: sha256(bytes) } }));
  writeFileSync(join(out, attestationsFile), key.attest(provenance(root, source, subject)));
  writeFileSync(join(out, keyFile), key.publicPem);
}
