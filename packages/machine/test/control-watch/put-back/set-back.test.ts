import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { Aside } from "#control-watch/put-back/aside";
import { SetBack } from "#control-watch/put-back/set-back";
import { placeNewFile } from "#workspace/change/place-file";

vi.mock("#workspace/change/place-file", { spy: true });

test("what a person saves while a file is put back is not lost", async () => {
  await using directory = await temporaryDirectory();
  const [root, aside] = [join(directory.root, "w"), join(directory.root, "aside")];
  mkdirSync(root);
  const file = join(root, "AGENTS.md");
  writeFileSync(file, "evil");
  const { dev: device, ino: inode } = lstatSync(root);
  const bytes = { read: () => Buffer.from("good"), readCopy: () => undefined };
  const { placeNewFile: place } = await vi.importActual<{ readonly placeNewFile: typeof placeNewFile }>(
    "#workspace/change/place-file",
  );
  vi.mocked(placeNewFile).mockImplementationOnce((...args) => {
    writeFileSync(file, "saved by hand");
    place(...args);
  });
  new SetBack({ path: root, device, inode }, { bytes, aside: new Aside(aside) }).to(file, {
    type: "file",
    mode: 0o644,
    sha256: "",
  });
  expect(readFileSync(file, "utf8")).toBe("good");
  expect(readdirSync(root)).toEqual(["AGENTS.md"]);
  const kept = readdirSync(aside).map((name) => readFileSync(join(aside, name), "utf8"));
  expect(kept.sort()).toEqual(["evil", "saved by hand"]);
});

const damaged = {
  read(): Uint8Array {
    throw new Error("damaged");
  },
  readCopy: () => undefined,
};

test("when what was kept is damaged, what stands there stays, and nothing lies aside", async () => {
  await using directory = await temporaryDirectory({ "w/AGENTS.md": "of the command" });
  const [root, aside] = [directory.path("w"), directory.path("aside")];
  const back = SetBack.at(root, { bytes: damaged, aside: new Aside(aside) });
  expect(() => back.to(join(root, "AGENTS.md"), { type: "file", mode: 0o644, sha256: "" })).toThrow("damaged");
  expect(readFileSync(join(root, "AGENTS.md"), "utf8")).toBe("of the command");
  expect(readdirSync(root)).toEqual(["AGENTS.md"]);
  expect(existsSync(aside)).toBe(false);
});

test("when what was there was too large to be kept, what came in its place is obeyed by nobody and lies aside", async () => {
  await using directory = await temporaryDirectory({ "w/.envrc": "of the command" });
  const [root, aside] = [directory.path("w"), directory.path("aside")];
  const back = SetBack.at(root, { bytes: damaged, aside: new Aside(aside) });
  expect(() => back.to(join(root, ".envrc"), { type: "other", identity: "", mode: 0o644 })).toThrow("too large");
  expect(readdirSync(root)).toEqual([]);
  expect(readFileSync(join(aside, ".envrc"), "utf8")).toBe("of the command");
});

test("where nothing can be moved out of the tree, the true file comes back all the same, and it is said where the other lies", async () => {
  await using directory = await temporaryDirectory({ "w/sub/AGENTS.md": "of the command" });
  const root = directory.path("w");
  const rename = () => {
    throw Object.assign(new Error("EXDEV"), { code: "EXDEV" });
  };
  const aside = new Aside(directory.path("aside"), { rename, maxCopied: 0 });
  const bytes = { read: () => Buffer.from("good"), readCopy: () => undefined };
  const said = SetBack.at(root, { bytes, aside }).to(join(root, "sub/AGENTS.md"), {
    type: "file",
    mode: 0o644,
    sha256: "",
  });
  const lies = / lies in (\/.*\/w\/put-back-\d+)$/.exec(said)?.[1] ?? "";
  expect(readFileSync(join(root, "sub/AGENTS.md"), "utf8")).toBe("good");
  expect(readFileSync(lies, "utf8")).toBe("of the command");
});
