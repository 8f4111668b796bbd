import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const before = "export function add(a: number, b: number): number {\n  return a + b;\n}\n";

test("a hunk is edited in colours, and what was typed is applied", async () => {
  await using gennai = await serveGennai({
    files: { "add.ts": before },
    script: [
      {
        steps: [
          call("Read", { file_path: "add.ts" }),
          call("Edit", { file_path: "add.ts", old_string: "return a + b;", new_string: 'return sum("of", a, b);' }),
          { text: ["Proposed."] },
        ],
      },
    ],
    args: ["--commands", "staged"],
  });
  await using on = await openPage(gennai);
  const scripts: string[] = [];
  on.page.on("request", (request) => void scripts.push(request.url()));
  await on.page.setViewportSize({ width: 280, height: 700 });
  const review = await on.repl.review("change it", "Proposed.");
  const hunk = review.getByRole("article", { name: /^Hunk 1 of 1, add\.ts/ });
  expect(scripts.filter((url) => url.includes("code-editor"))).toEqual([]);
  await hunk.getByRole("button", { name: "Edit", exact: true }).click();
  const editor = hunk.getByRole("textbox", { name: "New lines of add.ts" });
  await editor.waitFor();
  const word = editor.getByText('"of"');
  const colourOf = (element: Element) => getComputedStyle(element).color;
  for (const colorScheme of ["light", "dark"] as const) {
    await on.page.emulateMedia({ colorScheme });
    await expect.poll(async () => (await word.evaluate(colourOf)) !== (await editor.evaluate(colourOf))).toBe(true);
    await takeScreenshot(on.page, `hunk in the code editor ${colorScheme}`);
  }
  // Keys of the review are text here.
  await editor.press("Control+Home");
  await on.page.keyboard.type("// yes, next\n");
  await editor.press("Control+Enter");
  await hunk.getByText("edited by you").waitFor();
  await review.getByRole("button", { name: /^Apply/ }).click();
  await review.getByRole("button", { name: "Apply now" }).click();
  await review.getByText("Applied").first().waitFor();
  const proposed = before.replace("return a + b;", 'return sum("of", a, b);');
  expect(await gennai.workspace.read("add.ts")).toBe(`// yes, next\n${proposed}`);
  expect(on.complaints).toEqual([]);
});

test("a file is looked at as it was at a point of the timeline, with what came since", async () => {
  const write = (content: string) => call("Write", { file_path: "src/add.ts", content });
  await using gennai = await serveGennai({
    script: [
      {
        steps: [
          write(before),
          call("Read", { file_path: "src/add.ts" }),
          write(`${before}export {};\n`),
          { text: ["Written."] },
        ],
      },
    ],
  });
  await using on = await openPage(gennai);
  await on.page.setViewportSize({ width: 280, height: 700 });
  await on.repl.send("write it");
  await on.repl.see("Written.");
  await on.repl.openPanel("Timeline");
  const records = on.repl.root.getByRole("list", { name: "Records, newest first" }).locator(".record-outcome");
  // The oldest is last.
  const first = records.filter({ hasText: "Write" }).last();
  await first.locator(".record-line").click();
  await first.getByRole("button", { name: "src/add.ts at this point" }).click();
  const file = first.getByRole("textbox", { name: "src/add.ts, as it was then" });
  await file.getByText("export function add").waitFor();
  expect(await file.innerText()).not.toContain("export {}");
  await takeScreenshot(on.page, "file at a point of the timeline");
  await first.getByRole("button", { name: "Since then" }).click();
  await first.getByRole("table").getByText("export {};").waitFor();
  await takeScreenshot(on.page, "file since a point of the timeline");
  expect(on.complaints).toEqual([]);
});
