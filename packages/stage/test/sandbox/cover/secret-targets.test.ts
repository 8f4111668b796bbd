import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { CoveredTree } from "#cover/covered-tree";
import { SecretTargets } from "#sandbox/cover/secret-targets";

function put(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "ENV-SECRET\n");
}

test("it is forgotten when link and target are gone, and no sooner", async () => {
  await using directory = await temporaryDirectory();
  const [root, targets] = [join(directory.root, "w"), join(directory.root, "targets")];
  const [target, link] = [join(root, "shared/text"), join(root, ".env")];
  const look = async () => (await new CoveredTree(root, { targets }).look(async () => undefined)).hidden;
  put(root, "shared/text");
  symlinkSync("shared/text", link);
  expect(await look()).toEqual(["shared/text"]);
  rmSync(target);
  expect(await look()).toEqual([]);
  put(root, "shared/text");
  rmSync(link);
  expect(await look()).toEqual(["shared/text"]);
  rmSync(join(root, "shared"), { recursive: true });
  writeFileSync(join(root, "shared"), "a file in the directory's place");
  expect(await look()).toEqual([]);
  expect(readdirSync(targets)).toEqual([]);
  rmSync(join(root, "shared"));
  put(root, "shared/text");
  expect(await look()).toEqual([]);
});

test("what cannot be read back lets no command run, and says which file it is", async () => {
  await using directory = await temporaryDirectory({ "targets/x.json": "{" });
  expect(() => new SecretTargets(directory.path("targets"))).toThrow(/cannot be read in .*x\.json\. Remove that file/);
});
