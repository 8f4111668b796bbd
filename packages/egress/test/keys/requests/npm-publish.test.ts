import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import fc from "fast-check";
import { expect, test } from "vitest";
import { publishedVersion } from "#keys/requests/npm-publish";

const manifest = {
  name: "@me/thing",
  version: "1.0.0",
  dependencies: { dep: "^1.0.0" },
  scripts: { install: "node x" },
  bin: "./index.js",
  os: ["!win32"],
};

async function packed(of: object = manifest): Promise<Buffer> {
  await using directory = await temporaryDirectory({ "package.json": JSON.stringify(of), "index.js": "1;\n" });
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory.root], {
    cwd: directory.root,
  });
  const [file] = execFileSync("ls", [directory.root])
    .toString()
    .split("\n")
    .filter((each) => each.endsWith(".tgz"));
  return readFileSync(directory.path(file ?? ""));
}

const registry = "https://registry.example/npm/";
const archive = await packed();
const other = await packed({ ...manifest, version: "1.0.1" });

interface Body {
  [name: string]: unknown;
}

/** As npm sends it. */
function body(
  data: Buffer = archive,
  of: Body = manifest,
): Body & { versions: Record<string, Body>; _attachments: Record<string, Body> } {
  const { name, version } = manifest;
  const integrity = `sha512-${hash("sha512", data, "base64")}`;
  return {
    _id: name,
    name,
    "dist-tags": { latest: version },
    versions: {
      [version]: {
        ...of,
        _id: `${name}@${version}`,
        readme: "",
        dist: { integrity, shasum: hash("sha1", data), tarball: `${registry}@me/thing/-/@me/thing-1.0.0.tgz` },
      },
    },
    access: null,
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: "application/octet-stream",
        data: data.toString("base64"),
        length: data.length,
      },
    },
  };
}

const read = (what: unknown, name = manifest.name) =>
  publishedVersion(
    { name, registry: new URL(registry) },
    Buffer.from(typeof what === "string" ? what : JSON.stringify(what)),
  );

test("what is published is told in full, and nothing else is sent", () => {
  const meaning = read(body());
  expect(meaning).toMatchObject({
    type: "writes",
    what: `publish @me/thing@1.0.0 (sha512 ${hash("sha512", archive)}, tag latest, access as it is there)`,
  });
  expect(meaning.type === "writes" && JSON.parse(meaning.body?.toString() ?? "")).toEqual(body());
  expect(read({ ...body(), access: "public", "dist-tags": { next: "1.0.0", beta: "1.0.0" } })).toMatchObject({
    what: expect.stringContaining("tag next and beta, access public)"),
  });
});

const version = (change: Body) => {
  const whole = body();
  return { ...whole, versions: { "1.0.0": { ...whole.versions["1.0.0"], ...change } } };
};

test("where the archive is, and its hashes, are written anew: installs get what was told", () => {
  const { dist } = body().versions["1.0.0"] ?? {};
  const meaning = read(version({ dist: { tarball: "https://evil.example/x.tgz", shasum: "0", signatures: [] } }));
  expect(meaning.type === "writes" && JSON.parse(meaning.body?.toString() ?? "").versions["1.0.0"].dist).toEqual(dist);
});

test("programs in a directory of their own, as npm lists them", async () => {
  const of = { ...manifest, bin: undefined, directories: { bin: "./tools" } };
  const published = (bin: object) => {
    const whole = body(listing, { ...of, bin });
    return read(whole).type;
  };
  const listing = await packed(of);
  expect(published({ thing: "tools/thing" })).toBe("writes");
  expect(published({ git: "tools/thing" })).toBe("refused");
  expect(published({ thing: "other/thing" })).toBe("refused");
});

test("a name that stands twice: the one that is told is the one that is sent", () => {
  const twice = JSON.stringify(body()).replace('"access":null', '"access":"public","access":"restricted"');
  const meaning = read(twice);
  expect(meaning).toMatchObject({ what: expect.stringContaining("access restricted") });
  expect(meaning.type === "writes" && meaning.body?.toString()).not.toContain("public");
});

const refused: [name: string, body: unknown, address?: string][] = [
  ["no JSON", "{"],
  ["another package than the address", body(), "@me/other"],
  ["another archive, of another version", body(other)],
  [
    "an archive with another hash than it says",
    version({ dist: { integrity: `sha512-${hash("sha512", other, "base64")}` } }),
  ],
  ["a tag for another version", { ...body(), "dist-tags": { latest: "0.9.0" } }],
  ["two versions", { ...body(), versions: { ...body().versions, "0.9.0": manifest } }],
  [
    "two archives",
    { ...body(), _attachments: { ...body()._attachments, "x-1.0.0.tgz": { content_type: "x", data: "" } } },
  ],
  ["no archive", { ...body(), _attachments: {} }],
  ["a field that nobody knows", { ...body(), maintainers: [{ name: "evil" }] }],
  ["another access than there is", { ...body(), access: "everybody" }],
  ["other dependencies than the archive", version({ dependencies: { dep: "^1.0.0", evil: "1.0.0" } })],
  ["another version of one", version({ dependencies: { dep: "^2.0.0" } })],
  ["fewer dependencies than the archive", version({ dependencies: {} })],
  ["a field that the archive has not", version({ exports: "./evil.js" })],
  ["other scripts", version({ scripts: { install: "node y" } })],
  ["a program that the archive has not", version({ bin: { git: "index.js" } })],
  ["a program elsewhere", version({ bin: { thing: "other.js" } })],
  ["another system", version({ os: ["linux"] })],
  ["another identity", version({ _id: "@me/other@1.0.0" })],
  [
    "an archive of another name",
    { ...body(), _attachments: { "x-1.0.0.tgz": { content_type: "x", data: archive.toString("base64") } } },
  ],
  ["another name within", version({ name: "other" })],
  ["an archive that is none", body(Buffer.from("none"))],
  [
    "base64 in another form",
    {
      ...body(),
      _attachments: { "@me/thing-1.0.0.tgz": { content_type: "x", data: ` ${archive.toString("base64")}` } },
    },
  ],
];

test.each<[name: string, body: unknown, address?: string]>(refused)("refused: %s", (_name, what, name) => {
  expect(read(what, name)).toMatchObject({ type: "refused" });
});

test("property: whatever of the body changes, the question tells it, or it is refused", () => {
  const before = read(body());
  const told = before.type === "writes" ? before.what : "";
  const text = JSON.stringify({ ...body(), access: "public" });
  // Of the archive, each byte is in the hash.
  const ends = text.indexOf('"_attachments"');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: ends }), fc.constantFrom(...'ax19"}{,'), (at, character) => {
      const changed = `${text.slice(0, at)}${character}${text.slice(at + 1)}`;
      const meaning = read(changed);
      if (changed === text || meaning.type !== "writes") return;
      const sent = JSON.parse(meaning.body?.toString() ?? "") as Body & { versions: Record<string, Body> };
      expect([sent["name"], Object.keys(sent.versions)]).toEqual([manifest.name, ["1.0.0"]]);
      expect(sent.versions["1.0.0"]).toMatchObject({ dependencies: manifest.dependencies });
      if (meaning.what === told) expect(sent["access"] ?? null).toBeNull();
    }),
  );
});
