import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { SecretTargets } from "#sandbox/cover/secret-targets";
import { TreeCover } from "#sandbox/cover/tree-cover";
import { sandboxFixture } from "../sandbox-fixture.ts";

function put(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "ENV-SECRET\n");
}

test("what a link named as a secret led to is covered after a restart, though a command removed the link", async () => {
  await using box = await sandboxFixture();
  put(box.root, "shared/text");
  symlinkSync("shared/text", join(box.root, ".env"));
  expect((await box.run("rm .env; cat shared/text")).output).not.toContain("ENV-SECRET");
  expect(existsSync(join(box.root, ".env"))).toBe(false);
  const { output } = await (await box.restarted()).run("cat shared/text; cp shared/text copy; cat copy");
  expect(output).not.toContain("ENV-SECRET");
});

test("a link that led nowhere when it was seen first covers what it leads to by now", async () => {
  await using box = await sandboxFixture();
  for (const name of ["shared", "settings"]) mkdirSync(join(box.root, name));
  symlinkSync("../shared/text", join(box.root, "settings/.env"));
  // Seen, and long enough unchanged that it is not read again.
  for (const _each of [1, 2]) await box.run("sleep 0.1");
  put(box.root, "shared/text");
  expect((await box.run("cat shared/text")).output).not.toContain("ENV-SECRET");
});

test("it is forgotten when link and target are gone, and no sooner", async () => {
  await using directory = await temporaryDirectory();
  const [root, targets] = [join(directory.root, "w"), join(directory.root, "targets")];
  const [target, link] = [join(root, "shared/text"), join(root, ".env")];
  const look = () => new TreeCover(root, { targets }).look().zeroAccess;
  put(root, "shared/text");
  symlinkSync("shared/text", link);
  expect(look()).toEqual([target]);
  rmSync(target);
  expect(look()).toEqual([]);
  put(root, "shared/text");
  rmSync(link);
  expect(look()).toEqual([target]);
  rmSync(join(root, "shared"), { recursive: true });
  writeFileSync(join(root, "shared"), "a file in the directory's place");
  expect(look()).toEqual([]);
  expect(readdirSync(targets)).toEqual([]);
  rmSync(join(root, "shared"));
  put(root, "shared/text");
  expect(look()).toEqual([]);
});

test("what cannot be read back lets no command run, and says which file it is", async () => {
  await using directory = await temporaryDirectory({ "targets/x.json": "{" });
  expect(() => new SecretTargets(directory.path("targets"))).toThrow(/cannot be read in .*x\.json\. Remove that file/);
});
