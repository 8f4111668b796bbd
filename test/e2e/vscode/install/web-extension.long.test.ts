import { freePort } from "@gennai/testkit/listening";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { type ServedGennai, serveGennai } from "../../process/serve-gennai.ts";
import { typeToken } from "../workbench/palette.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const port = await freePort();
const address = { "gennai.baseUrl": `http://127.0.0.1:${port}` };

/**
 * The extension in a web worker of the page, as in vscode.dev: no Node, no disk, no shell. The server works elsewhere and sees
 * nothing of the folder.
 */
const workbench = useWorkbench(() => ({
  settings: { "remote.extensionKind": { "gennai.gennai": ["web"] }, "gennai.editingMode": "proposal", ...address },
  machineSettings: address,
  files: { "notes.txt": "only this window has it\n", "src/words.txt": "one\ntwo\n" },
}));

async function served(): Promise<ServedGennai> {
  return serveGennai({
    port,
    args: ["--allow-origin", new URL(workbench().server.url).origin],
    script: [
      {
        match: "^look",
        steps: [
          call("Read", { file_path: "notes.txt" }),
          call("Grep", { pattern: "t[w]o", output_mode: "content" }),
          call("Glob", { pattern: "*.txt" }),
          call("RunInTerminal", { command: "echo from a shell" }),
          call("Read", { file_path: "../elsewhere.txt" }),
          { text: ["Looked around."] },
        ],
      },
      {
        match: "^propose",
        steps: [
          call("Read", { file_path: "src/words.txt" }),
          call("ProposeChanges", {
            changes: [{ path: "src/words.txt", operation: "update", new_content: "one\nTWO\n" }],
          }),
          { text: ["Proposed."] },
        ],
      },
    ],
  });
}

test("a server without the files reads, searches and changes them through a window in a browser", async () => {
  await using gennai = await served();
  await typeToken(workbench().page, gennai.token);
  const repl = await openRepl(workbench());
  await repl.send("look around");
  await shows(repl, "Looked around.");
  await repl.idle();
  expect(await repl.toolCalls()).toEqual([
    ...["Read done", "Grep done", "Glob done"],
    ...["RunInTerminal did not run", "Read did not run"],
  ]);
  await repl.root.getByRole("button", { name: /^Read/ }).first().click();
  await shows(repl, "only this window has it");
  await repl.root.getByRole("button", { name: /^Grep/ }).click();
  await shows(repl, "src/words.txt:2:two");
  await workbench().screenshot("web extension");

  await repl.send("propose a change");
  await shows(repl, "Proposed.");
  await repl.openPanel("Review");
  const hunk = repl.root.locator("article.hunk").first();
  await hunk.getByRole("button", { name: "Keep" }).click();
  expect(await workbench().workspace.read("src/words.txt")).toBe("one\ntwo\n");
  await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
  await repl.root.getByRole("button", { name: "Apply now" }).click();
  await shows(repl, "Applied to 1 file.");
  expect(await workbench().workspace.read("src/words.txt")).toBe("one\nTWO\n");
});

test("it ran in a worker of the page: the host with Node has other extensions, and not this one", async () => {
  const { page, server } = workbench();
  expect(page.workers().length).toBeGreaterThan(0);
  const written = await server.report();
  expect(written).toMatch(/_doActivateExtension vscode\./);
  expect(written).not.toMatch(/_doActivateExtension gennai\./);
});
