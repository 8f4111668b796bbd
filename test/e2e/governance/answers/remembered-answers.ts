import { AcceptedChecks } from "@gennai/sessions/checks/accepted-checks";
import { AcceptedConnections } from "@gennai/sessions/checks/accepted-connections";
import { StandingAnswers } from "@gennai/sessions/checks/standing-answers";
import { expect } from "vitest";
import type { ReplDriver } from "../../browser/page/repl-driver.ts";

interface AnswersPlace {
  readonly stateDir: string;
  readonly workspaceRoot: string;
}

/** A workspace whose user agreed for all sessions to its check, and to two hosts for `npm install`. */
export async function rememberAnswers({ stateDir, workspaceRoot }: AnswersPlace): Promise<StandingAnswers> {
  await new AcceptedConnections(stateDir, workspaceRoot).remember("npm install", [
    { host: "registry.example", port: 443, callId: "" },
    { host: "mirror.example", port: 8443, callId: "" },
  ]);
  const actionSha256 = "a".repeat(64);
  const check = { command: "npm test", source: "package.json", actionSha256, rules: [], callId: "1" };
  await new AcceptedChecks(stateDir, workspaceRoot).accept(check);
  return new StandingAnswers(stateDir, workspaceRoot);
}

/** Sees these answers in the REPL's panel, takes back one of them there, and then all others. @param look while all are listed */
export async function takeBackInPanel(
  repl: ReplDriver,
  { stateDir, workspaceRoot }: AnswersPlace,
  look: () => Promise<unknown>,
): Promise<void> {
  const standing = async (): Promise<readonly string[]> => {
    const answers = await new StandingAnswers(stateDir, workspaceRoot).list();
    return answers.map(({ statement }) => statement);
  };
  await repl.openPanel("Governance");
  const section = repl.root.getByRole("region", { name: "Answers that stand" });
  const listed = section.getByRole("listitem");
  await expect.poll(() => listed.count()).toBe(3);
  expect(await listed.allTextContents()).toEqual([
    expect.stringContaining("the check npm test (package.json) runs since "),
    expect.stringContaining("npm install reaches registry.example:443 since "),
    expect.stringContaining("npm install reaches mirror.example:8443 since "),
  ]);
  await section.scrollIntoViewIfNeeded();
  await look();

  await section.getByRole("button", { name: "Ask again: npm install reaches registry.example:443" }).click();
  await expect.poll(() => listed.count()).toBe(2);
  expect(await standing()).toEqual([
    "the check npm test (package.json) runs",
    "npm install reaches mirror.example:8443",
  ]);
  await section.getByRole("button", { name: "Ask again about all" }).click();
  await section.getByText("None: every question is asked again.").waitFor();
  expect(await standing()).toEqual([]);
}
