import { mkdir, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, expect, test } from "vitest";
import { PastedImages } from "#commands/conversation/input/pasted-images";

const directory = await temporaryDirectory({
  "notes.txt": "x",
  "shot.png": "",
  "my shot.PNG": "",
  "b]c.webp": "",
});
afterAll(() => directory[Symbol.asyncDispose]());
await mkdir(directory.path("other"));
await writeFile(directory.path("other/shot.png"), "");
const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;
const at = (name: string) => directory.path(name);

test.each([
  { name: "a path", pasted: at("shot.png"), shown: "[image shot.png]", files: ["shot.png"] },
  { name: "a path of the workspace", pasted: "shot.png\n", shown: "[image shot.png]", files: ["shot.png"] },
  { name: "quoted", pasted: `'${at("my shot.PNG")}' `, shown: "[image my shot.PNG]", files: ["my shot.PNG"] },
  { name: "with backslashes", pasted: "my\\ shot.PNG", shown: "[image my shot.PNG]", files: ["my shot.PNG"] },
  { name: "an address", pasted: pathToFileURL(at("b]c.webp")).href, shown: "[image b_c.webp]", files: ["b]c.webp"] },
  {
    name: "two with one name",
    pasted: `${at("shot.png")} other/shot.png`,
    shown: "[image shot.png] [image shot.png 2]",
    files: ["shot.png", "other/shot.png"],
  },
])("a pasted picture is a mark: $name", ({ pasted, shown, files }) => {
  const images = new PastedImages(directory.root);
  expect(images.marked(paste(pasted))).toBe(paste(`${shown} `));
  expect(images.in(`what is in ${shown}?`)).toEqual(files.map(at));
  expect(images.in("nothing")).toEqual([]);
});

test.each(["none.png", "notes.txt", "look at shot.png", "shot.png\nother/shot.png", "", "'shot.png"])(
  "any other paste stays as it is: %j",
  (pasted) => {
    expect(new PastedImages(directory.root).marked(paste(pasted))).toBe(paste(pasted));
  },
);

test("what is typed stays as it is", () => {
  expect(new PastedImages(directory.root).marked("shot.png")).toBe("shot.png");
});
