import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { lookAtBoth } from "../page/look-at.ts";
import { openPage } from "../page/open-page.ts";

const script = [
  { match: "^format", steps: [bash("touch formatted.txt"), { text: ["Formatted."] }] },
  { match: "^write", steps: [call("Write", { file_path: "mill.txt", content: "a mill\n" }), { text: ["Written."] }] },
];
const files = { ".gennai/rules.yaml": "bashToolPatterns:\n  - {pattern: touch, reason: look twice, ask: true}\n" };

test("the list says what each session does, and a question that waits is one click away", async () => {
  await using gennai = await serveGennai({ script, files });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  await repl.send("write a mill");
  await repl.see("Written.");
  await repl.idle();
  await repl.beginSession();
  await repl.send("format it");
  await repl.question.waitFor();
  await repl.beginSession();
  const sessions = page.getByRole("button", { name: "Sessions", exact: true });
  await sessions.locator(".count", { hasText: "1" }).waitFor();
  await sessions.click();
  const rows = page.locator(".session-open");
  // Without the time, which comes last.
  const words = async () =>
    (await rows.locator(".session-words").allInnerTexts()).map((text) => text.replace(/ · [^·]+$/, ""));
  await expect.poll(words).toEqual(["Waits for you: Run `touch formatted.txt` · work", "work · 1 file to look at"]);
  await lookAtBoth(page, "the list of sessions");
  await rows.first().click();
  await repl.question.waitFor();
  await sessions.locator(".count").waitFor({ state: "detached" });
  await repl.answer("no");
  await repl.idle();
  expect(on.complaints).toEqual([]);
});
