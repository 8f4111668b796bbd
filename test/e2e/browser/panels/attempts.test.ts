import { existsSync } from "node:fs";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { loopbackService } from "../../sandbox/loopback-service.ts";
import { openPage, pageLink } from "../page/open-page.ts";
import { pictured } from "../page/pictured.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const lines = Array.from({ length: 20 }, (_none, index) => `line ${index + 1}\n`).join("");

/** Milliseconds for attempts, and a restart of the server between them. */

test("a prompt is tried three times side by side; one asks, one is stopped, one is taken and kept in part", async () => {
  using served = await loopbackService({ "/one": "2\n" });
  // Each copy lies in a directory with its number.
  const each = [
    `curl -sS --max-time 20 http://127.0.0.1:${served.port}/one -o value.txt`,
    "echo 2 > value.txt; sed -i 's/line 2$/second/; s/line 19/nineteenth/' list.txt; seq 30 > more.txt",
    "echo 5 > value.txt; sleep 300",
  ].map((command, index) => `*/${index + 1}/*) ${command};;`);
  await using gennai = await serveGennai({
    files: {
      "list.txt": lines,
      "value.txt": "0\n",
      ".gennai/config.yaml": "check: grep -qx 2 value.txt && echo value is right\n",
    },
    script: [
      {
        match: "set the value",
        steps: [
          { text: ["I set it."] },
          bash(`case "$PWD" in ${each.join(" ")} esac`),
          { usage: { input_tokens: 1200, output_tokens: 90 } },
          { text: ["The value is set."] },
        ],
      },
    ],
    args: ["--commands", "staged"],
  });
  await using on = await openPage(gennai, { viewport: { width: 1200, height: 900 } });
  const { page, repl } = on;
  await repl.useEditingMode("proposal");
  await page.getByRole("combobox", { name: "Attempts" }).selectOption("3 attempts");
  await repl.send("set the value");
  const panel = page.getByRole("region", { name: "Attempts" });
  await panel.getByText("0 of 3 have ended.").waitFor();

  // A question names its attempt, and is answered like any other.
  await repl.question.getByRole("heading", { name: /^Attempt [12]: / }).waitFor();
  await panel.getByText("It asks you").first().waitFor();
  await takeScreenshot(page, "attempts at work light");
  await page.emulateMedia({ colorScheme: "dark" });
  await takeScreenshot(page, "attempts at work dark");
  expect(await accessibilityProblems(repl)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  // Each asks about the host that it wants, or whether the project's check may run.
  const first = panel.getByRole("listitem", { name: "Attempt 1: Check passed" });
  const allow = repl.question.locator('.confirmation-answer[aria-disabled="false"]').first();
  const passed = async () => {
    if (await allow.isVisible()) await allow.click();
    return first.isVisible();
  };
  await expect.poll(passed).toBe(true);
  const third = panel.getByRole("listitem", { name: "Attempt 3: Working" });
  await third.getByText("Bash case").waitFor();
  await third.getByRole("button", { name: "Stop attempt 3" }).click();
  await panel.getByText("Attempt 1 is suggested").waitFor();
  await panel.getByRole("listitem", { name: "Attempt 3: Stopped" }).waitFor();
  // Nothing is taken unasked.
  expect(await gennai.workspace.read("value.txt")).toBe("0\n");

  // What the other one changed can be looked at, and taken.
  const second = panel.getByRole("listitem", { name: "Attempt 2: Check passed" });
  await second.getByRole("button", { name: /list\.txt/ }).click();
  await second.getByText("nineteenth").waitFor();
  await second.getByRole("button", { name: "What the check printed" }).click();
  await second.getByText("value is right").waitFor();
  await page.mouse.move(20, 500);
  await pictured(page, "attempts");
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await accessibilityProblems(repl)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });

  // All of it is there again, also after the server was killed.
  await gennai.kill();
  await gennai.restart();
  await page.goto(await pageLink(gennai));
  await repl.openPanel("Attempts");
  await panel.getByText("Attempt 1 is suggested").waitFor();
  await second.getByRole("button", { name: "Take attempt 2" }).click();
  const review = page.locator(".review");
  await review.getByRole("article", { name: /^Hunk 1 of 2, list\.txt/ }).waitFor();
  await takeScreenshot(page, "an attempt in review");
  const hunk = (name: RegExp) => review.getByRole("article", { name });
  await hunk(/^Hunk 1 of 2, list\.txt/)
    .getByRole("button", { name: "Keep", exact: true })
    .click();
  await hunk(/^Hunk 2 of 2, list\.txt/)
    .getByRole("button", { name: "Refuse", exact: true })
    .click();
  await review.getByRole("button", { name: "Keep file value.txt" }).click();
  await review.getByRole("button", { name: "Refuse file more.txt" }).click();
  await review.getByRole("button", { name: /^Apply/ }).click();
  await review.getByRole("button", { name: "Apply now" }).click();
  await review.getByText("Applied").first().waitFor();
  expect(await gennai.workspace.read("list.txt")).toBe(lines.replace("line 2\n", "second\n"));
  expect(await gennai.workspace.read("value.txt")).toBe("2\n");
  expect(existsSync(gennai.workspace.path("more.txt"))).toBe(false);
  expect(on.complaints.filter((words) => !/ERR_|Failed to load/.test(words))).toEqual([]);
});
