import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import fc from "fast-check";
import { expect, test } from "vitest";
import { crateChange, publishedCrate } from "#keys/requests/cargo-publish";

async function packed(directory: string, file = "Cargo.toml"): Promise<Buffer> {
  await using files = await temporaryDirectory({ [`${directory}/${file}`]: "[package]\n" });
  execFileSync("tar", ["--format=ustar", "-czf", "x.crate", directory], { cwd: files.root });
  return readFileSync(files.path("x.crate"));
}

const archive = await packed("dep-1.0.0");
const deps = [
  { name: "serde", version_req: "^1", kind: "normal", registry: null },
  { name: "cc", version_req: "=1.0.0", kind: "build", registry: "https://crates.example/" },
];
const crate = { name: "dep", vers: "1.0.0", deps, features: {}, authors: [] };

function sent(json: unknown, ...archives: readonly Buffer[]): Buffer {
  const parts = [Buffer.from(typeof json === "string" ? json : JSON.stringify(json)), ...archives];
  const length = (part: Buffer) => Buffer.from([part.length & 255, (part.length >> 8) & 255, part.length >> 16, 0]);
  return Buffer.concat(parts.flatMap((part) => [length(part), part]));
}

const what = `publish dep 1.0.0 (sha256 ${hash("sha256", archive)}, dependencies: serde ^1, cc =1.0.0 (build) of https://crates.example/)`;

test("a crate is told with its hash and its dependencies, and sent as it was read", () => {
  expect(publishedCrate(sent(crate, archive))).toEqual({ type: "writes", what, body: sent(crate, archive) });
  const twice = publishedCrate(
    sent(JSON.stringify(crate).replace('"vers":"1.0.0"', '"vers":"9.0.0","vers":"1.0.0"'), archive),
  );
  expect(twice).toEqual({ type: "writes", what, body: sent(crate, archive) });
});

test("its features, and the library that it links, are told", () => {
  const more = { ...crate, features: { default: ["std"], std: [] }, links: "z" };
  expect(publishedCrate(sent(more, archive))).toMatchObject({
    what: `${what.slice(0, -1)}, features: default = [std], std = [], links z)`,
  });
});

test.each<[name: string, body: Buffer]>([
  ["nothing", Buffer.alloc(0)],
  ["no archive", sent(crate)],
  ["something behind it", Buffer.concat([sent(crate, archive), Buffer.from("x")])],
  ["a third part", sent(crate, archive, archive)],
  ["no JSON", sent("{", archive)],
  ["another version than the archive", sent({ ...crate, vers: "1.0.1" }, archive)],
  ["a name that is none", sent({ ...crate, name: "../dep" }, archive)],
  ["an archive with another directory", sent(crate, await packed("other-1.0.0"))],
  ["an archive without a manifest", sent(crate, await packed("dep-1.0.0", "x.rs"))],
  ["an archive that is none", sent(crate, Buffer.from("none"))],
  ["a dependency that hides what follows", sent({ ...crate, deps: [{ ...deps[0], name: "a\u001b[8m" }] }, archive)],
])("refused: %s", (_name, body) => {
  expect(publishedCrate(body)).toMatchObject({ type: "refused" });
});

test("property: bytes of any kind are a crate only with its archive", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(publishedCrate(Buffer.from(bytes)).type).toBe("refused");
    }),
  );
});

test.each<[method: string, path: string, body: string, what: string | undefined]>([
  ["DELETE", "/api/v1/crates/dep/1.0.0/yank", "", "yank dep 1.0.0"],
  ["PUT", "/cargo/api/v1/crates/dep/1.0.0/unyank", "", "unyank dep 1.0.0"],
  ["PUT", "/api/v1/crates/dep/owners", '{"users":["me","github:o:team"]}', "add me, github:o:team as owners of dep"],
  ["DELETE", "/api/v1/crates/dep/owners", '{"users":["me"]}', "remove me as owners of dep"],
  ["PUT", "/api/v1/crates/dep/owners", '{"users":["a\\u001b[8m"]}', undefined],
  ["PUT", "/api/v1/crates/dep/owners", '{"users":["me"],"more":1}', undefined],
])("%s %s with '%s' would %s", (method, path, body, what) => {
  const meaning = crateChange(method, path)?.read(Buffer.from(body), true);
  expect(meaning).toMatchObject(what === undefined ? { type: "refused" } : { type: "writes", what });
});

test.each([
  ["POST", "/api/v1/crates/new"],
  ["GET", "/api/v1/crates/dep/owners"],
  ["PUT", "/api/v1/crates/dep/1.0.0/yank"],
  ["PUT", "/api/v1/me/tokens"],
])("not known: %s %s", (method, path) => {
  expect(crateChange(method, path)).toBeUndefined();
});
