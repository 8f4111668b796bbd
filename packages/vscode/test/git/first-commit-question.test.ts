import type { AgentClient } from "@gennai/client/connection/connection";
import { beforeEach, expect, test, vi } from "vitest";
import { offerFirstCommit } from "#git/first-commit-question";

const window = vi.hoisted(() => ({ offered: [] as string[], chosen: undefined as string | undefined }));
vi.mock("vscode", () => ({
  QuickPickItemKind: { Separator: -1 },
  window: {
    showQuickPick: async (choices: readonly { readonly label: string }[]) => {
      window.offered = choices.map(({ label }) => label);
      return choices.find(({ label }) => label === window.chosen);
    },
  },
}));

const made = vi.hoisted((): string[] => []);
vi.mock("@gennai/client/session/workspace-state", () => ({
  makeFirstCommit: async (_client: unknown, { sha256 }: { readonly sha256: string }) => {
    made.push(sha256);
    const planned = { sha256: "list", branch: "main", fileCount: 1, files: ["a"], leftOutCount: 0, leftOut: [] };
    return { ...planned, commit: sha256 === "" ? undefined : "c0ffee" };
  },
}));

beforeEach(() => {
  made.length = 0;
});

const offer = () => offerFirstCommit({} as unknown as AgentClient, "s");

test.each([
  { what: "Enter alone goes on without a commit", chosen: "Not now", goesOn: true, commits: [""] },
  { what: "a chosen commit is made", chosen: "Commit 1 file on main", goesOn: true, commits: ["", "list"] },
  { what: "Escape starts nothing", chosen: undefined, goesOn: false, commits: [""] },
])("$what", async ({ chosen, goesOn, commits }) => {
  window.chosen = chosen;
  expect(await offer()).toBe(goesOn);
  expect(made).toEqual(commits);
  expect(window.offered[0]).toBe("Not now");
});
