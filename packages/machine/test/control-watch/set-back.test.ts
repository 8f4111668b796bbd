import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { SetBack } from "#control-watch/set-back";

test("what a person saves while a file is put back is not lost", async () => {
  await using directory = await temporaryDirectory();
  const [root, aside] = [join(directory.root, "w"), join(directory.root, "aside")];
  mkdirSync(root);
  const file = join(root, "AGENTS.md");
  writeFileSync(file, "evil");
  const { dev: device, ino: inode } = lstatSync(root);
  const bytes = {
    read(): Uint8Array {
      writeFileSync(file, "saved by hand");
      return Buffer.from("good");
    },
  };
  new SetBack({ path: root, device, inode }, { bytes, aside }).to(file, { type: "file", mode: 0o644, sha256: "" });
  expect(readFileSync(file, "utf8")).toBe("good");
  expect(readdirSync(root)).toEqual(["AGENTS.md"]);
  const kept = readdirSync(aside).map((name) => readFileSync(join(aside, name), "utf8"));
  expect(kept.sort()).toEqual(["evil", "saved by hand"]);
});
