import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { withoutRoot } from "@gennai/testkit/without-root";
import { expect, test } from "vitest";
import { moveAside } from "#control-watch/move-aside";
import { treeOf } from "./watched-workspace.ts";

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
  await withoutRoot(place.root, async () => moveAside(from, place.path("aside/sub/from"), refusing(code)));
  expect(existsSync(from)).toBe(false);
  expect(treeOf(place.path("aside"))).toEqual({
    "sub/from/closed/secret": "600 s",
    "sub/from/large": `600 ${"x".repeat(3 * 1024 * 1024 + 1)}`,
    "sub/from/link": `-> ${place.path("outside")}`,
  });
  expect(readFileSync(place.path("outside"), "utf8")).toBe("outside");
});

test("what cannot be copied whole stays, and nothing of it lies aside", async () => {
  await using place = await temporaryDirectory({ "from/a": "a" });
  writeFileSync(Buffer.concat([Buffer.from(place.path("from/")), Buffer.from([0xff])]), "odd");
  const move = () => moveAside(place.path("from"), place.path("aside/from"), refusing("EXDEV"));
  expect(move).toThrow(/could not be copied .* stays where it is/);
  expect(readFileSync(place.path("from/a"), "utf8")).toBe("a");
  expect(treeOf(place.path("aside"))).toEqual({});
  rmSync(place.path("from"), { recursive: true });
});

test("other failures are not tried another way, and nothing that lies aside is written over", async () => {
  await using place = await temporaryDirectory({ one: "1", other: "2" });
  expect(() => moveAside(place.path("one"), place.path("aside/x"), refusing("EIO"))).toThrow("EIO");
  moveAside(place.path("one"), place.path("aside/x"));
  moveAside(place.path("other"), place.path("aside/x"));
  expect(treeOf(place.path("aside"))).toMatchObject({
    x: expect.stringMatching(/1$/),
    "x.1": expect.stringMatching(/2$/),
  });
});
