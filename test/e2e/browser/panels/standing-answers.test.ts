import { AcceptedConnections } from "@gennai/sessions/checks/accepted-connections";
import { expect, test } from "vitest";
import { rememberAnswers, takeBackInPanel } from "../../governance/answers/remembered-answers.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

test("a person sees what is agreed to in all sessions, and takes back one answer, or all with the project's check", async () => {
  await using gennai = await serveGennai({ script: [{ steps: [{ text: ["Hello."] }] }] });
  const place = { stateDir: gennai.stateDirectory, workspaceRoot: gennai.workspace.root };
  await rememberAnswers(place);
  await new AcceptedConnections(place.stateDir, "/elsewhere").remember("git fetch", [
    { host: "git.example", port: 443, callId: "" },
  ]);
  await using on = await openPage(gennai);
  await takeBackInPanel(on.repl, place, () => takeScreenshot(on.page, "answers that stand"));
  expect(await new AcceptedConnections(place.stateDir, "/elsewhere").list()).toHaveLength(1);
  expect(on.complaints).toEqual([]);
});

test("an answer that was taken back elsewhere meanwhile is gone from the list, too", async () => {
  await using gennai = await serveGennai({ script: [{ steps: [{ text: ["Hello."] }] }] });
  const place = { stateDir: gennai.stateDirectory, workspaceRoot: gennai.workspace.root };
  const answers = await rememberAnswers(place);
  await using on = await openPage(gennai);
  await on.repl.openPanel("Governance");
  const section = on.repl.root.getByRole("region", { name: "Answers that stand" });
  await expect.poll(() => section.getByRole("listitem").count()).toBe(3);
  await answers.revoke(undefined, async () => {});
  await section.getByRole("button", { name: "Ask again: npm install reaches mirror.example:8443" }).click();
  await section.getByText("None: every question is asked again.").waitFor();
  expect(on.complaints).toEqual([]);
});
