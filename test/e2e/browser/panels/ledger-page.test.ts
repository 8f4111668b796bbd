import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildLedgerPage } from "../../../../packages/ledger-page/scripts/build.mjs";
import { madeBundle, testKey } from "../../../../packages/ledger-page/test/made-bundle.ts";
import { tamperings } from "../../../../packages/ledger-page/test/tampered.ts";
import { openContext } from "../page/open-context.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const key = testKey();
const hostile = [
  "<img src=x onerror=\"document.title='ran'\">",
  "</script><script>document.title='ran'</script>",
  "<iframe srcdoc=\"<script>parent.document.title='ran'</script>\"></iframe>",
  "javascript:document.title='ran'",
  "\u202e\u0007evil\u200b",
];

let directory = "";
let pageFile = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "gennai-ledger-page-"));
  pageFile = (await buildLedgerPage({ outDir: directory })).file;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The page as a third party opens it: from a file, with everything that it asks of a network noted. */
async function opened() {
  await using parts = new AsyncDisposableStack();
  const { context } = parts.use(await openContext());
  const page = await context.newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const address = pathToFileURL(pageFile).href;
  await page.goto(address);
  const owned = parts.move();
  return { page, asked, address, complaints, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function check(page: Page, bundle: string, pem?: string): Promise<string> {
  if (pem !== undefined) {
    await page
      .getByLabel("Signer's public key")
      .setInputFiles({ name: "k.pub", mimeType: "", buffer: Buffer.from(pem) });
  }
  await page.getByLabel("Bundle").setInputFiles({ name: "b.json", mimeType: "", buffer: Buffer.from(bundle) });
  const verdict = page.locator(".verdict");
  await verdict.waitFor();
  return (await verdict.textContent()) ?? "";
}

test("a bundle is checked by the page alone, opened from a file, and its records can be read", async () => {
  await using open = await opened();
  const { page, asked, address, complaints } = open;
  const bundle = await madeBundle(key, 300);
  expect(await check(page, bundle)).toContain("whose it is was not checked");
  expect(await check(page, bundle, key.pem)).toBe("Sound: chained and signed by the key that you chose.");
  expect(await page.locator(".facts").textContent()).toContain("300 signed, 0 of them without content");
  expect(await page.locator(".records li").count()).toBe(200);
  await page.getByRole("button", { name: "Show more (100)" }).click();
  expect(await page.locator(".records li").count()).toBe(300);
  await page.getByLabel("Look for words in records").fill("turn-1 größe");
  await page.locator(".records summary").first().click();
  expect(await page.locator(".records pre").first().textContent()).toContain('"tool": "Edit"');
  await takeScreenshot(page, "ledger page, sound");
  expect(asked).toEqual([address]);
  expect(complaints).toEqual([]);
});

test("what was done to a bundle, and another's key, are said in words", async () => {
  await using open = await opened();
  const bundle = await madeBundle(key, 4);
  for (const [name, change] of tamperings) {
    expect(await check(open.page, change(bundle), key.pem), name).toMatch(/^Not sound \(/);
    expect(await open.page.locator(".records").count(), name).toBe(0);
  }
  expect(await check(open.page, bundle, testKey().pem)).toMatch(/^Not sound \(unknown_key\)/);
  await takeScreenshot(open.page, "ledger page, not sound");
  expect(await check(open.page, bundle, "no key")).toMatch(/^Not sound \(no_key\)/);
  expect(open.complaints).toEqual([]);
});

test("text of records is shown and never run", async () => {
  await using open = await opened();
  const { page } = open;
  const bundle = await madeBundle(key, hostile.length, (seq) => {
    const text = hostile[seq - 1] ?? "";
    return {
      modelId: text,
      details: { intent: text, [text]: text },
      calls: [{ callId: text, tool: text, input: { path: text }, verdict: "allow", rule: text, risk: "low" }],
      files: [],
    };
  });
  await check(page, bundle, key.pem);
  for (const summary of await page.locator(".records summary").all()) await summary.click();
  const shown = (await page.locator(".records").textContent()) ?? "";
  expect(shown).toContain(hostile[0]);
  expect(shown).toContain("\\u{202e}");
  expect(shown).not.toContain("\u202e");
  expect(await page.locator(".records img, .records iframe, .records script, .records a").count()).toBe(0);
  expect(await page.title()).toBe("Check a Gennai ledger");

  // And if it were parsed as HTML after all, the page's own policy lets nothing of it run or be fetched.
  const refused = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<img src=x onerror=\"document.title='ran'\">";
      return false;
    } catch {
      return true;
    }
  });
  expect(refused).toBe(true);
  const fetched = await page.evaluate(() =>
    fetch("https://example.org/").then(
      () => "reached",
      () => "refused",
    ),
  );
  expect(fetched).toBe("refused");
  expect(open.asked).toEqual([open.address]);
});

test("a large bundle is checked piece by piece", async () => {
  await using open = await opened();
  const { page } = open;
  const filler = "x".repeat(2_000);
  const large = join(directory, "large.json");
  await writeFile(large, await madeBundle(key, 6_000, () => ({ details: { filler } })));
  await page
    .getByLabel("Signer's public key")
    .setInputFiles({ name: "k.pub", mimeType: "", buffer: Buffer.from(key.pem) });
  await page.getByLabel("Bundle").setInputFiles(large);
  const verdict = page.locator(".verdict");
  await verdict.waitFor();
  expect(await verdict.textContent()).toBe("Sound: chained and signed by the key that you chose.");
  await page.getByRole("heading", { name: "The newest 5000 of 6000 records" }).waitFor();
  await takeScreenshot(page, "ledger page, large");
});
