import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { withoutRoot } from "@gennai/testkit/without-root";
import { expect, test } from "vitest";
import { Aside } from "#control-watch/put-back/aside";
import { treeOf } from "../watched-workspace.ts";

/** As between two devices, or in a directory whose entries only others may rename. */
function refusing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(`${code}: rename`), { code });
  };
}

test.each(["EXDEV", "EACCES", "EPERM"])("what cannot be renamed (%s) is copied whole, then removed", async (code) => {
  await using place = await temporaryDirectory({ outside: "outside" });
  const from = place.path("from");
  mkdirSync(`${from}/closed`, { recursive: true });
  writeFileSync(`${from}/large`, Buffer.alloc(3 * 1024 * 1024 + 1, "x"));
  writeFileSync(`${from}/closed/secret`, "s", { mode: 0 });
  chmodSync(`${from}/closed`, 0);
  symlinkSync(place.path("outside"), `${from}/link`);
  execFileSync("mkfifo", [`${from}/pipe`]);
  const aside = new Aside(place.path("aside"), { rename: refusing(code) });
  await withoutRoot(place.root, async () => {
    expect(aside.take(from, { name: "sub/from", top: place.root })).toBeUndefined();
  });
  expect(existsSync(from)).toBe(false);
  expect(treeOf(place.path("aside"))).toEqual({
    "sub/from/closed/secret": "600 s",
    "sub/from/large": `600 ${"x".repeat(3 * 1024 * 1024 + 1)}`,
    "sub/from/link": `-> ${place.path("outside")}`,
  });
  expect(readFileSync(place.path("outside"), "utf8")).toBe("outside");
});

test.each<[string, { readonly code: string; readonly maxCopied?: number }]>([
  ["cannot be copied whole", { code: "EXDEV" }],
  ["is more than one command may have copied", { code: "EXDEV", maxCopied: 6_000 }],
  ["cannot be moved at all", { code: "EIO" }],
])("what %s is obeyed by nobody, stays in the tree whole, and is named", async (what, { code, ...options }) => {
  await using place = await temporaryDirectory({ "w/sub/.git/a": "a".repeat(3_000) });
  const odd = Buffer.concat([Buffer.from(place.path("w/sub/.git/")), Buffer.from([0xff])]);
  if (what.includes("whole")) writeFileSync(odd, "odd");
  const aside = new Aside(place.path("aside"), { rename: refusing(code), ...options });
  const name = aside.take(place.path("w/sub/.git"), { name: "sub/.git", top: place.path("w") }) ?? "";
  expect(name).toMatch(/^put-back-\d+$/);
  expect(readdirSync(place.path("w")).sort()).toEqual([name, "sub"]);
  expect(readdirSync(place.path("w/sub"))).toEqual([]);
  expect(statSync(place.path(`w/${name}`)).mode & 0o777).toBe(0);
  chmodSync(place.path(`w/${name}`), 0o700);
  expect(readFileSync(place.path(`w/${name}/a`), "utf8")).toBe("a".repeat(3_000));
  expect(treeOf(place.path("aside"))).toEqual({});
});

test("one command has no more than so many bytes copied, sparse files counted whole", async () => {
  await using place = await temporaryDirectory({ "w/1": "", "w/2": "", "w/3": "" });
  const aside = new Aside(place.path("aside"), { rename: refusing("EXDEV"), maxCopied: 20_000 });
  truncateSync(place.path("w/1"), 1e12);
  for (const name of ["2", "3"]) truncateSync(place.path(`w/${name}`), 10_000);
  const kept = ["1", "2", "3"].map((name) => aside.take(place.path(`w/${name}`), { name, top: place.path("w") }));
  const stayed = expect.stringMatching(/^put-back-/) as unknown;
  expect(kept).toEqual([stayed, undefined, stayed]);
  expect(statSync(place.path(`w/${kept[0]}`)).size).toBe(1e12);
  expect(readdirSync(place.path("aside"))).toEqual(["2"]);
});

test("nothing that lies aside is written over", async () => {
  await using place = await temporaryDirectory({ one: "1", other: "2" });
  const aside = new Aside(place.path("aside"));
  for (const from of ["one", "other"]) aside.take(place.path(from), { name: "x", top: place.root });
  expect(treeOf(place.path("aside"))).toMatchObject({
    x: expect.stringMatching(/1$/),
    "x.1": expect.stringMatching(/2$/),
  });
});

test("what can be moved nowhere stays, and that is an error", async () => {
  await using place = await temporaryDirectory({ "w/.envrc": "evil" });
  const aside = new Aside(place.path("aside"), { rename: refusing("EXDEV"), maxCopied: 0 });
  const take = () => aside.take(place.path("w/.envrc"), { name: ".envrc", top: place.path("none") });
  expect(take).toThrow(/ENOENT/);
  expect(readFileSync(place.path("w/.envrc"), "utf8")).toBe("evil");
});
