import { createHash } from "node:crypto";
import type { SourceState } from "../source-state.ts";
import type { BundledPackage } from "./bundled-packages.ts";
import type { LockFile } from "./lock-file.ts";

/** Packages that npm installs beside ours, by `name@version`, and their licence. */
export type ExternalPackages = ReadonlyMap<string, ExternalPackage>;

export interface ExternalPackage {
  /** SPDX identifier. */
  readonly license: string;
  /** True for what is there on some platforms only. */
  readonly optional: boolean;
}

/**
 * What is in the artefacts, and what npm adds at installation, as CycloneDX 1.6 (JSON). Everything in it comes from the bundler,
 * the lock file and the commit, so that the same commit gives the same bytes.
 */
export function billOfMaterials(
  source: SourceState,
  parts: { readonly bundled: readonly BundledPackage[]; readonly external: ExternalPackages; readonly lock: LockFile },
): object {
  const { bundled, external, lock } = parts;
  const ids = new Set([...bundled.map(idOf), ...external.keys()]);
  const own = { name: "gennai", version: source.version };
  const dependencies = [...ids].sort().map((id) => ({
    ref: purl(id),
    dependsOn: lock
      .dependenciesOf(id)
      .filter((other) => ids.has(other))
      .map(purl),
  }));
  const direct = [...ids].filter((id) => lock.direct.has(id)).sort();
  const components = [
    ...bundled.map((each) => ({
      ...component(idOf(each), each.license, lock),
      scope: "required",
      properties: each.in.map((artefact) => ({ name: "gennai:bundled-in", value: artefact })),
    })),
    ...[...external].map(([id, { license, optional }]) => ({
      ...component(id, license, lock),
      scope: optional ? "optional" : "required",
      properties: [{ name: "gennai:installed-by", value: "npm" }],
    })),
  ];
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(`gennai ${source.version} ${source.commit}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(source.time * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": purl(idOf(own)),
        ...own,
        purl: purl(idOf(own)),
        licenses: licensesOf("MIT"),
        properties: [{ name: "gennai:commit", value: source.commit }],
      },
    },
    components: components.sort((one, other) => (one["bom-ref"] < other["bom-ref"] ? -1 : 1)),
    dependencies: [{ ref: purl(idOf(own)), dependsOn: direct.map(purl) }, ...dependencies],
  };
}

function component(id: string, license: string, lock: LockFile) {
  const at = id.lastIndexOf("@");
  const path = id.slice(0, at);
  const slash = path.indexOf("/");
  const [, base64 = ""] = lock.integrity(id).split("sha512-");
  return {
    type: "library",
    "bom-ref": purl(id),
    ...(slash === -1 ? {} : { group: path.slice(0, slash) }),
    name: path.slice(slash + 1),
    version: id.slice(at + 1),
    purl: purl(id),
    licenses: licensesOf(license),
    // Of the package as the registry gives it; the bundle holds parts of it.
    hashes: [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }],
  };
}

function licensesOf(license: string): readonly object[] {
  return / (OR|AND|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

function idOf(each: { readonly name: string; readonly version: string }): string {
  return `${each.name}@${each.version}`;
}

/** https://github.com/package-url/purl-spec */
function purl(id: string): string {
  return `pkg:npm/${id.startsWith("@") ? `%40${id.slice(1)}` : id}`;
}

/** A UUID of version 8: the digest's own bits. */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
