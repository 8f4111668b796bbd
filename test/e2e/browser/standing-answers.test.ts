import { AcceptedConnections } from "@gennai/sessions/checks/accepted-connections";
import { expect, test } from "vitest";
import { serveGennai } from "../process/serve-gennai.ts";
import { openPage } from "./open-page.ts";
import { takeScreenshot } from "./screenshot.ts";

test("a person sees what is agreed to in all sessions, and takes it back", async () => {
  await using gennai = await serveGennai({ script: [{ steps: [{ text: ["Hello."] }] }] });
  const connections = new AcceptedConnections(gennai.stateDirectory, gennai.workspace.root);
  await connections.remember("npm install", [
    { host: "registry.example", port: 443, callId: "" },
    { host: "mirror.example", port: 8443, callId: "" },
  ]);
  await using on = await openPage(gennai);
  await on.repl.openPanel("Governance");
  const section = on.repl.root.getByRole("region", { name: "Answers that stand" });
  const answers = section.getByRole("listitem");
  await expect.poll(() => answers.count()).toBe(2);
  await takeScreenshot(on.page, "answers that stand");

  await section.getByRole("button", { name: "Ask again: npm install reaches mirror.example:8443" }).click();
  await expect.poll(() => answers.allTextContents()).toEqual([expect.stringContaining("registry.example:443")]);
  expect(await connections.find("npm install")).toMatchObject([{ host: "registry.example" }]);
  await section.getByRole("button", { name: "Ask again: npm install reaches registry.example:443" }).click();
  await section.getByText("None: everything that asks asks again.").waitFor();
  expect(await connections.list()).toEqual([]);
  expect(on.complaints).toEqual([]);
});
