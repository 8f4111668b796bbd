import { expect, it } from "vitest";
import { pageMarkdown } from "#web/web-fetch-tool";

const { signal } = new AbortController();
const html = (text: string, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  pageMarkdown({ mediaType: "text/html", text }, { signal, ...more });

it("gives a page as markdown, without characters that no reader sees", async () => {
  expect(await html("<h1>Title\u{E0041}</h1><p hidden>x</p><p>One <b>two</b>\u200b</p>")).toBe(
    "# Title\n\nOne **two**",
  );
  expect(await pageMarkdown({ mediaType: "text/plain", text: "a\u202eb" }, { signal })).toBe("ab");
});

it("holds nothing else up with a page that takes long, and gives it up", async () => {
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 20);
  const deep = "<div></span>".repeat(250) + "x ".repeat(2_000_000);
  await expect(html(deep, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "unreadable_page" });
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(5);
});

it("stops when told to", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("stopped")), 50);
  await expect(html("<div>".repeat(20_000), { signal: controller.signal })).rejects.toThrow("stopped");
});
