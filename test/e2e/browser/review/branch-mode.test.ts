import { existsSync } from "node:fs";
import { forgetWaysBack } from "@gennai/stage/commit/way-back";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const files = {
  "README.md": "# Swatches\n",
  "src/paint.ts": 'export const colour = "red";\n',
  "src/deep/page.ts": 'import { colour } from "../paint.ts";\nexport const page = colour;\n',
};
const task = "replace colour with color in src/**/*.ts";
const wanted = "ai-agent/replace-colour-with-color-in-src-ts";

test("on a protected branch the agent gets one of its own, changes files there, and takes them back", async () => {
  await using workspace = await temporaryRepository(files);
  await using gennai = await serveGennai({ workspace });
  await using on = await openPage(gennai);
  await on.repl.send(task);
  const { question } = on.repl;
  await question.getByText(wanted).first().waitFor();
  await takeScreenshot(on.page, "page branch question");
  expect((await workspace.git("branch", "--show-current")).trim()).toBe("main");
  await question.getByRole("button", { name: "Create branch" }).click();

  await on.repl.see("2 files changed");
  await on.repl.idle();
  expect((await workspace.git("branch", "--show-current")).trim()).toBe(wanted);
  expect(await workspace.read("src/paint.ts")).toBe('export const color = "red";\n');
  expect(await workspace.read("src/deep/page.ts")).toContain("page = color;");
  await takeScreenshot(on.page, "page branch changed");

  await on.repl.root.getByRole("button", { name: "Undo", exact: true }).click();
  await on.repl.root.getByRole("button", { name: "Yes, undo" }).click();
  await on.repl.see("2 files undone");
  expect(await workspace.read("src/paint.ts")).toBe(files["src/paint.ts"]);
  expect(on.complaints).toEqual([]);
});

test("what an undo could not bring back is named beside the question, and stays as it is", async () => {
  const large = "large.bin";
  await using workspace = await temporaryRepository(
    { ...files, [large]: new Uint8Array(17 * 1024 * 1024) },
    { branch: "work" },
  );
  await using gennai = await serveGennai({ workspace, args: ["--commands", "staged"] });
  await using on = await openPage(gennai);
  await on.repl.send(`run rm ${large} && echo more >> README.md`);
  await on.repl.see("2 files changed");
  await on.repl.idle();
  await forgetWaysBack(gennai.stateDirectory, () => true);
  const { root } = on.repl;
  await root.getByRole("button", { name: "Undo", exact: true }).click();
  await root.getByText("Undo the rest?").waitFor();
  await root.getByText(`Stays as it is: ${large}`).waitFor();
  await takeScreenshot(on.page, "page undo of less than all");
  await root.getByRole("button", { name: "Yes, undo" }).click();
  await on.repl.see("1 file undone");
  expect(await workspace.read("README.md")).toBe(files["README.md"]);
  expect(existsSync(workspace.path(large))).toBe(false);
  expect(on.complaints).toEqual([]);
});

test("an offered first prompt is sent by a click and works without a model, with nothing asked before", async () => {
  await using workspace = await temporaryRepository(files);
  await using gennai = await serveGennai({ workspace });
  await using on = await openPage(gennai);
  const prompt = on.repl.root.locator("textarea");
  // What is typed into a page that just opened is a prompt.
  await on.page.reload();
  await expect.poll(() => prompt.evaluate((box) => box === document.activeElement)).toBe(true);
  await on.repl.root.getByRole("button", { name: "list the files", exact: true }).click();
  await on.repl.see("README.md");
  await on.repl.idle();
  expect((await workspace.git("branch", "--show-current")).trim()).toBe("main");
  await on.repl.beginSession();
  await expect.poll(() => prompt.evaluate((box) => box === document.activeElement)).toBe(true);
  await on.repl.root.getByRole("button", { name: "help", exact: true }).click();
  await on.repl.see("replace A with B in GLOB");
  expect(on.complaints).toEqual([]);
});

test("after a no nothing is written; in Proposal Mode the same prompt is proposed", async () => {
  await using workspace = await temporaryRepository(files);
  await using gennai = await serveGennai({ workspace });
  await using on = await openPage(gennai);
  await on.repl.send(task);
  // The no is to the branch: all writes of the turn go with it.
  await on.repl.question.getByText("Edit src/deep/page.ts").first().waitFor();
  await on.repl.question.getByRole("button", { name: "Only look" }).waitFor();
  await on.repl.answer("no");
  await on.repl.idle();
  expect(await workspace.read("src/paint.ts")).toBe(files["src/paint.ts"]);
  await on.repl.useEditingMode("proposal");
  await on.repl.send(task);
  await on.repl.see("Proposed: 2 files");
  await on.repl.idle();
  expect((await workspace.git("branch", "--show-current")).trim()).toBe("main");
  expect(await workspace.read("src/paint.ts")).toBe(files["src/paint.ts"]);
});
