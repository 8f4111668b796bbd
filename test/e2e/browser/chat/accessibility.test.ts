import type { BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampleOf } from "../../../../scripts/lib/tests/sample.mjs";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { littleRoom } from "../../look/little-room.ts";
import { lostText } from "../../look/lost-text.ts";
import { sightArgs, sightFiles, sightScript } from "../../look/sight-script.ts";
import { sights } from "../../look/sights.ts";
import { smallTargets } from "../../look/touch-targets.ts";
import { type ServedGennai, serveGennai } from "../../process/serve-gennai.ts";
import { type OpenedPage, openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

/** Everybody can use what the page shows: one session comes by all sights, and those of the sample are examined. */
const positions = [...sights.keys()];
const onScreen = new Set(sampleOf(positions, Math.ceil(sights.length / 8)));
const onPhone = new Set(sampleOf(positions.toReversed(), Math.ceil(sights.length / 8)));

describe("with a screen and a mouse", () => {
  const opened = useSights({ viewport: { width: 1280, height: 1400 }, reducedMotion: "no-preference" });
  const looks = [
    { colorScheme: "light" },
    { colorScheme: "dark" },
    { colorScheme: "dark", forcedColors: "active" },
    { colorScheme: "light", contrast: "more" },
  ] as const;

  test.for(sights.map((sight, at) => ({ ...sight, isLookedAt: onScreen.has(at) })))(
    "everybody can use $name on the page, in every look",
    async ({ name, show, leave, isLookedAt }) => {
      const { page, repl, gennai } = opened();
      await show(repl, gennai);
      const found: string[] = [];
      for (const look of isLookedAt ? looks : []) {
        await page.emulateMedia({ forcedColors: "none", contrast: "no-preference", ...look });
        const words = Object.values(look).join(" ");
        await takeScreenshot(page, `everybody page ${words} ${name}`);
        for (const problem of await accessibilityProblems(repl)) found.push(`${words}: ${problem}`);
      }
      await leave?.(repl);
      expect(found, found.join("\n")).toEqual([]);
    },
  );
});

describe("with a finger, and little room", () => {
  const phone = { width: 390, height: 844 };
  const opened = useSights({ viewport: phone, hasTouch: true, isMobile: true });

  test.for(sights.map((sight, at) => ({ ...sight, isLookedAt: onPhone.has(at) })))(
    "$name: fingers hit, nothing is cut off, nothing moves",
    async ({ name, show, leave, isLookedAt }) => {
      const { page, repl, gennai } = opened();
      await show(repl, gennai);
      await takeScreenshot(page, `everybody phone ${name}`);
      const found = [...(await page.evaluate(smallTargets)), ...(await page.evaluate(lostText))];
      const moving = await page.evaluate(
        () => document.getAnimations().filter(({ playState }) => playState === "running").length,
      );
      for (const { name: room, ...size } of isLookedAt ? littleRoom : []) {
        await page.setViewportSize(size);
        await takeScreenshot(page, `everybody ${room} ${name}`);
        const problems = [...(await accessibilityProblems(repl)), ...(await page.evaluate(lostText))];
        found.push(...problems.map((problem) => `${room}: ${problem}`));
      }
      await page.setViewportSize(phone);
      await leave?.(repl);
      expect(found, found.join("\n")).toEqual([]);
      expect(moving).toBe(0);
    },
  );
});

/** A page whose one session comes by all sights. */
function useSights(options: BrowserContextOptions): () => OpenedPage & { readonly gennai: ServedGennai } {
  let gennai: ServedGennai | undefined;
  let page: OpenedPage | undefined;
  beforeAll(async () => {
    gennai = await serveGennai({ script: sightScript, files: sightFiles, args: sightArgs });
    page = await openPage(gennai, options);
  });
  afterAll(async () => {
    await page?.[Symbol.asyncDispose]();
    await gennai?.[Symbol.asyncDispose]();
  });
  return () => {
    if (page === undefined || gennai === undefined) throw new Error("There is a page within tests only.");
    return { ...page, gennai, [Symbol.asyncDispose]: page[Symbol.asyncDispose] };
  };
}
