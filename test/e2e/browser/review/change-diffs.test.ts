import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const files = {
  "README.md": "# Swatches\n",
  "src/paint.ts": '// What a wall gets.\nexport const colour = "red";\nexport const coats: number = 2;\n',
  "src/deep/page.ts": 'import { colour } from "../paint.ts";\nexport const page = colour;\n',
};
const looks = [
  { name: "light", colorScheme: "light", forcedColors: "none", width: 1280 },
  { name: "dark", colorScheme: "dark", forcedColors: "none", width: 1280 },
  { name: "high contrast", colorScheme: "dark", forcedColors: "active", width: 1280 },
  { name: "narrow", colorScheme: "light", forcedColors: "none", width: 300 },
] as const;

test("an edit shows what was written, in colours, and the card counts it, in every look", async () => {
  await using workspace = await temporaryRepository(files);
  await using gennai = await serveGennai({ workspace });
  await using on = await openPage(gennai);
  const { root } = on.repl;
  await on.repl.send("replace colour with color in src/**/*.ts");
  await on.repl.yes.click();
  await on.repl.see("2 files changed");
  await on.repl.idle();

  const written = root.locator(".tool .diff").filter({ hasText: 'color = "red"' });
  await written.locator(".tok-keyword").getByText("export").first().waitFor();
  expect(await written.locator("td.diff-removed.diff-code").first().innerText()).toContain(
    'export const colour = "red";',
  );
  const card = root.locator("section.card").filter({ hasText: "2 files changed" });
  expect(await card.locator(".line-counts .spoken").allInnerTexts()).toEqual([
    "2 added, 2 removed",
    "1 added, 1 removed",
  ]);
  expect(await card.innerText()).toContain("ai-agent/replace-colour-with-color-in-src-ts");
  await card.getByRole("button", { name: "src/paint.ts" }).click();
  await card.locator(".tok-string").first().waitFor();

  const colours = (classes: string) =>
    written
      .locator(classes)
      .first()
      .evaluate((element) => getComputedStyle(element).color);
  for (const { name, width, ...look } of looks) {
    await on.page.emulateMedia(look);
    await on.page.setViewportSize({ width, height: 800 });
    if (name !== "high contrast") expect(await colours(".tok-keyword"), name).not.toBe(await colours(".tok-string"));
    await takeScreenshot(on.page, `page diff ${name}`);
    expect(await accessibilityProblems(on.repl), name).toEqual([]);
  }
  expect(on.complaints).toEqual([]);
});
