import { existsSync, statSync } from "node:fs";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const lines = Array.from({ length: 20 }, (_none, index) => `line ${index + 1}\n`).join("");

test("a review says which command changed a hunk; what is not text, and modes, are kept with the rest", async () => {
  await using gennai = await serveGennai({
    files: { "list.txt": lines },
    script: [
      {
        steps: [
          call("Read", { file_path: "list.txt" }),
          call("Edit", { file_path: "list.txt", old_string: "line 2\n", new_string: "second\n" }),
          bash("sed -i s/line.19/nineteenth/ list.txt"),
          bash("printf '\\0\\1' > logo.bin; mkdir bin; echo '#!/bin/sh' > bin/run.sh; chmod +x bin/run.sh"),
          { text: ["Proposed."] },
        ],
      },
    ],
    args: ["--commands", "staged"],
  });
  await using on = await openPage(gennai);
  await on.repl.useEditingMode("proposal");
  const review = await on.repl.review("change the list", "Proposed.");
  await review.getByText("changed by sed -i s/line.19/nineteenth/ list.txt").waitFor();
  await takeScreenshot(on.page, "review of a staged proposal");
  expect(await gennai.workspace.read("list.txt")).toBe(lines);
  await review.getByRole("button", { name: "Keep file logo.bin" }).click();
  await review.getByRole("button", { name: "Keep file bin/run.sh" }).click();
  const second = review.getByRole("article", { name: /^Hunk 2 of 2, list\.txt/ });
  await second.getByRole("button", { name: "Keep", exact: true }).click();
  await review
    .getByRole("article", { name: /^Hunk 1 of 2, list\.txt/ })
    .getByRole("button", { name: "Refuse", exact: true })
    .click();
  await review.getByRole("button", { name: /^Apply/ }).click();
  await review.getByRole("button", { name: "Apply now" }).click();
  await review.getByText("Applied").first().waitFor();
  expect(await gennai.workspace.read("list.txt")).toBe(lines.replace("line 19", "nineteenth"));
  expect(statSync(gennai.workspace.path("bin/run.sh")).mode & 0o777).toBe(0o755);
  expect(existsSync(gennai.workspace.path("logo.bin"))).toBe(true);
  await takeScreenshot(on.page, "a staged proposal that was applied");
  expect(on.complaints).toEqual([]);
});
