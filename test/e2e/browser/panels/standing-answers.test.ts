import { StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import { AcceptedChecks, AcceptedConnections } from "@gennai/sessions/rules/workspace-answers";
import { expect, test } from "vitest";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";
import { useGennai } from "../page/use-gennai.ts";

const gennai = useGennai({ script: [{ steps: [{ text: ["Hello."] }] }] });
const place = () => ({ stateDir: gennai().stateDirectory, workspaceRoot: gennai().workspace.root });

/** The user agreed for all sessions to the workspace's check, and to two hosts for `npm install`. */
async function rememberAnswers(): Promise<StandingAnswers> {
  const { stateDir, workspaceRoot } = place();
  await new AcceptedConnections(stateDir, workspaceRoot).remember("npm install", [
    { host: "registry.example", port: 443, callId: "" },
    { host: "mirror.example", port: 8443, callId: "" },
  ]);
  const actionSha256 = "a".repeat(64);
  const check = { command: "npm test", source: "package.json", actionSha256, rules: [], callId: "1" };
  await new AcceptedChecks(stateDir, workspaceRoot).accept(check);
  return new StandingAnswers(stateDir, workspaceRoot);
}

test("a person sees what is agreed to in all sessions, and takes back one answer, or all with the project's check", async () => {
  const answers = await rememberAnswers();
  const standing = async () => (await answers.list()).map(({ statement }) => statement);
  const elsewhere = new AcceptedConnections(gennai().stateDirectory, "/elsewhere");
  await elsewhere.remember("git fetch", [{ host: "git.example", port: 443, callId: "" }]);
  await using on = await openPage(gennai());
  await on.repl.openPanel("Governance");
  const section = on.repl.root.getByRole("region", { name: "Answers that stand" });
  const listed = section.getByRole("listitem");
  await expect.poll(() => listed.count()).toBe(3);
  expect(await listed.allTextContents()).toEqual([
    expect.stringContaining("the check npm test (package.json) runs since "),
    expect.stringContaining("npm install reaches registry.example:443 since "),
    expect.stringContaining("npm install reaches mirror.example:8443 since "),
  ]);
  await section.scrollIntoViewIfNeeded();
  await takeScreenshot(on.page, "answers that stand");

  await section.getByRole("button", { name: "Ask again: npm install reaches registry.example:443" }).click();
  await expect.poll(() => listed.count()).toBe(2);
  expect(await standing()).toEqual([
    "the check npm test (package.json) runs",
    "npm install reaches mirror.example:8443",
  ]);
  await section.getByRole("button", { name: "Ask again about all" }).click();
  await section.getByText("None: every question is asked again.").waitFor();
  expect(await standing()).toEqual([]);
  expect(await elsewhere.list()).toHaveLength(1);
  expect(on.complaints).toEqual([]);
});
