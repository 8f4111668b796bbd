import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { SetBack } from "#control-watch/set-back";
import { placeNewFile } from "#workspace/change/place-file";

vi.mock("#workspace/change/place-file", { spy: true });

test("what a person saves while a file is put back is not lost", async () => {
  await using directory = await temporaryDirectory();
  const [root, aside] = [join(directory.root, "w"), join(directory.root, "aside")];
  mkdirSync(root);
  const file = join(root, "AGENTS.md");
  writeFileSync(file, "evil");
  const { dev: device, ino: inode } = lstatSync(root);
  const bytes = { read: () => Buffer.from("good") };
  const { placeNewFile: place } = await vi.importActual<{ readonly placeNewFile: typeof placeNewFile }>(
    "#workspace/change/place-file",
  );
  vi.mocked(placeNewFile).mockImplementationOnce((...args) => {
    writeFileSync(file, "saved by hand");
    place(...args);
  });
  new SetBack({ path: root, device, inode }, { bytes, aside }).to(file, { type: "file", mode: 0o644, sha256: "" });
  expect(readFileSync(file, "utf8")).toBe("good");
  expect(readdirSync(root)).toEqual(["AGENTS.md"]);
  const kept = readdirSync(aside).map((name) => readFileSync(join(aside, name), "utf8"));
  expect(kept.sort()).toEqual(["evil", "saved by hand"]);
});

test.each([
  ["what was kept is damaged", { type: "file", mode: 0o644, sha256: "" }, "damaged"],
  ["it was too large to be kept", { type: "other", identity: "" }, "too large"],
] as const)("when %s, what stands there stays, and nothing lies aside", async (_why, state, message) => {
  await using directory = await temporaryDirectory({ "w/AGENTS.md": "of the command" });
  const [root, aside] = [directory.path("w"), directory.path("aside")];
  const bytes = {
    read(): Uint8Array {
      throw new Error("damaged");
    },
  };
  const back = SetBack.at(root, { bytes, aside });
  expect(() => back.to(join(root, "AGENTS.md"), state)).toThrow(message);
  expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("of the command");
  expect(readdirSync(root)).toEqual(["AGENTS.md"]);
  expect(existsSync(aside)).toBe(false);
});
