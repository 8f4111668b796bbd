import { hash } from "node:crypto";
import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { RequestMeaning } from "../../network/added-login.ts";
import { parsedJson, refused } from "./meanings.ts";
import { unpacked } from "./unpacked.ts";

const texts = z.record(z.string(), z.string());
const manifestShape = z.looseObject({
  _id: z.string().optional(),
  name: z.string(),
  version: z.string(),
  dist: z.looseObject({ integrity: z.string().optional(), shasum: z.string().optional() }),
});
/** What npm, pnpm and yarn send. Nothing else is let through. */
const publishShape = z.strictObject({
  _id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  "dist-tags": texts,
  versions: z.record(z.string(), manifestShape),
  access: z.enum(["public", "restricted"]).nullish(),
  readme: z.string().optional(),
  _attachments: z.record(
    z.string(),
    z.strictObject({ content_type: z.string(), data: z.string(), length: z.int().optional() }),
  ),
});

/** What of a version other packages and their installs go by; it has to be what the archive says. */
const meaningful = ["dependencies", "optionalDependencies", "peerDependencies", "scripts"] as const;

/** The same, as it stands there. */
const exact = (
  "os cpu libc engines peerDependenciesMeta bundleDependencies bundledDependencies main exports imports type " +
  "deprecated"
).split(" ");

/** What managers add to a version. */
const added: ReadonlySet<string> = new Set(
  (
    "_id dist readme readmeFilename gitHead _from _resolved _integrity _nodeVersion _npmVersion _npmUser _hasShrinkwrap " +
    "integrity shasum _npmOperationalInternal description maintainers contributors bugs homepage repository man directories gypfile scripts dependencies bin"
  ).split(" "),
);

/** One version of a package, whose archive, tags and access are shown. */
export function publishedVersion(
  { name: expected, registry }: { readonly name: string; readonly registry: URL },
  bytes: Buffer,
): RequestMeaning {
  const body = publishShape.safeParse(parsedJson(bytes)).data;
  if (body === undefined) return refused("It is not the publishing of one version, as npm sends it.");
  const { name, "dist-tags": tags, versions, access, _attachments: attachments } = body;
  const [one, ...moreVersions] = Object.entries(versions);
  const [its, ...moreFiles] = Object.entries(attachments);
  if (one === undefined || its === undefined || moreVersions.length + moreFiles.length > 0) {
    return refused("With a login, one version is published at a time, of one archive.");
  }
  const [version, manifest] = one;
  const [file, attached] = its;
  const isSame =
    [name, body._id, manifest.name].every((each) => each === expected) &&
    [undefined, `${name}@${version}`].includes(manifest._id) &&
    manifest.version === version;
  if (!isSame) {
    return refused("It gives different names or versions of the package in different places.");
  }
  if (!isPlainVersion(version) || file !== `${name}-${version}.tgz`) return refused("Its version cannot be read.");
  const entries = Object.entries(tags);
  if (!entries.every(([tag, tagged]) => /^[\w.-]{1,100}$/.test(tag) && tagged === version)) {
    return refused("It would set a tag for another version.");
  }
  const archive = Buffer.from(attached.data, "base64");
  if (archive.toString("base64") !== attached.data) return refused("Its archive is not encoded as npm does it.");
  const sha512 = hash("sha512", archive, "buffer");
  const integrity = `sha512-${sha512.toString("base64")}`;
  const shasum = hash("sha1", archive);
  // bun says them twice.
  const isHash = (value: unknown, own: string): boolean => value === undefined || value === own;
  const saysHashes = isHash(manifest["integrity"], integrity) && isHash(manifest["shasum"], shasum);
  if (!isHash(manifest.dist.integrity, integrity) || !saysHashes) return refused("Its archive has another hash.");
  const packed = packedManifest(archive);
  if (packed === undefined) return refused("Its archive holds no package.json that can be read.");
  if (packed["name"] !== name || !sameVersion(packed["version"], version)) {
    return refused(`Its archive holds ${String(packed["name"])}@${String(packed["version"])}.`);
  }
  const differing =
    meaningful.find((field) => !isSaid(manifest, packed, field)) ??
    exact.find((field) => !isDeepStrictEqual(manifest[field], packed[field])) ??
    (linksOnly(manifest, packed) ? undefined : "bin");
  if (differing !== undefined) return refused(`Its ${differing} differs from that in its archive.`);
  const unknown = Object.keys(manifest).find((field) => !Object.hasOwn(packed, field) && !added.has(field));
  if (unknown !== undefined) return refused(`Its archive lacks the field ${unknown.slice(0, 50)}.`);
  const said = [
    `publish ${name}@${version} (sha512 ${sha512.toString("hex")}`,
    `tag ${entries.map(([tag]) => tag).join(" and ") || "none"}`,
    `access ${access ?? "as it is there"})`,
  ];
  // Written anew: where a name stands twice, others may read the other one; and what is installed has to be this archive.
  const dist = { integrity, shasum, tarball: new URL(`${name}/-/${file}`, registry).href };
  const sent = {
    ...body,
    versions: { [version]: { ...manifest, dist } },
    _attachments: { [file]: { ...attached, length: archive.length } },
  };
  return { type: "writes", what: said.join(", "), body: Buffer.from(JSON.stringify(sent)) };
}

export function isPlainVersion(version: string): boolean {
  return /^\d[\w.+-]{0,99}$/.test(version);
}

/** Npm takes a `v` before it and a build behind it away. */
function sameVersion(packed: unknown, version: string): boolean {
  return (
    typeof packed === "string" && packed.replace(/^[v=\s]+/, "").replace(/\+.*$/, "") === version.replace(/\+.*$/, "")
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether both say the same in a field. */
function isSaid(said: Fields, packed: Fields, field: (typeof meaningful)[number]): boolean {
  const own = new Map(entriesOf(packed[field]));
  const known = new Map([...(field === "dependencies" ? entriesOf(packed["optionalDependencies"]) : []), ...own]);
  // Npm adds this one for a package with sources in C.
  if (field === "scripts" && !known.has("install")) known.set("install", "node-gyp rebuild");
  const all = new Map(entriesOf(said[field]));
  const isNew = [...all].some(([name, value]) => known.get(name) !== value);
  // Some leave out scripts that are for the package's own project.
  return !isNew && (field === "scripts" || [...own.keys()].every((name) => all.has(name)));
}

/** Whether an install links no other programs than the archive says. */
function linksOnly(manifest: Fields, packed: Fields): boolean {
  const own = new Map(programsOf(packed));
  // Npm lists what is in this directory.
  const directory = new Map(entriesOf(packed["directories"])).get("bin");
  const isListed = (name: string, path: string): boolean =>
    own.size === 0 &&
    typeof directory === "string" &&
    path.startsWith(posix.join("/", directory, "/")) &&
    path.endsWith(`/${name}`);
  return programsOf(manifest).every(([name, path]) => own.get(name) === path || isListed(name, path));
}

function programsOf({ name, bin }: Fields): readonly (readonly [name: string, path: string])[] {
  const all = typeof bin === "string" ? [[String(name), bin] as const] : entriesOf(bin);
  return all.map(([key, path]) => [posix.basename(key), posix.join("/", String(path))]);
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

/** The package.json of an archive; undefined if there is none, or more than one. */
function packedManifest(archive: Buffer): Fields | undefined {
  try {
    const found = unpacked(archive).filter(({ name }) => /^[^/]+\/package\.json$/iu.test(name));
    const [only, ...more] = found;
    if (only === undefined || more.length > 0) return undefined;
    const read: unknown = JSON.parse(only.content.toString().replace(/^\uFEFF/, ""));
    return typeof read === "object" && read !== null ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}
