import { beforeEach, expect, test, vi } from "vitest";
import { keepIgnored } from "#commands/changes/layer-commands";
import type { Workbench } from "#commands/workbench";

const window = vi.hoisted(() => ({
  said: [] as string[],
  offered: [] as unknown[],
  answer: "Keep" as string | undefined,
}));
vi.mock("vscode", () => ({
  window: {
    showInformationMessage: async (message: string) => void window.said.push(message),
    showWarningMessage: async (message: string, { detail }: { readonly detail: string }) => {
      window.said.push(`${message} ${detail}`);
      return window.answer;
    },
    showQuickPick: async (items: readonly { readonly label: string; readonly description: string }[]) => {
      window.offered = items.map(({ label, description }) => `${label}: ${description}`);
      return items;
    },
  },
}));

const tree = { path: "dist", files: 2n, bytes: 10n, removed: 1n, sha256: "a", command: "make" };
const seen = { paths: ["dist"], files: 2n, reasons: ["dist/.env: secret by its name"], sha256: "s", kept: false };

function workbench({ trees = [tree], kept = true } = {}) {
  const calls: unknown[] = [];
  const agent = {
    listLayer: async () => ({ trees }),
    keepLayer: async (request: { readonly sha256: string }) => {
      calls.push(request);
      return { ...seen, kept: request.sha256 !== "" && kept };
    },
  };
  const bench = { connect: async () => ({ agent }), sessions: { open: async () => ({ sessionId: "s1" }) } };
  return { calls, bench: bench as unknown as Workbench };
}

beforeEach(() => {
  window.said.length = 0;
  window.answer = "Keep";
});

test("what would change is shown, and exactly that is kept", async () => {
  const { calls, bench } = workbench();
  await keepIgnored(bench, []);
  expect(window.offered).toEqual(["dist: 2 files, 1 removed"]);
  expect(window.said[0]).toMatch(/^Keep this\? 2 files .*dist\n.*secret by its name\n\nUndo removes it again\.$/s);
  expect(calls).toMatchObject([
    { paths: ["dist"], sha256: "" },
    { paths: ["dist"], sha256: "s" },
  ]);
  expect(window.said[1]).toBe("In your folder now: dist.");
});

test("without a yes nothing is kept, nor what changed meanwhile", async () => {
  const { calls, bench } = workbench();
  window.answer = undefined;
  await keepIgnored(bench, []);
  expect(calls).toHaveLength(1);
  window.answer = "Keep";
  await keepIgnored(workbench({ kept: false }).bench, []);
  expect(window.said.at(-1)).toContain("nothing was kept");
});

test("where there is nothing, that is said", async () => {
  await keepIgnored(workbench({ trees: [] }).bench, []);
  expect(window.said).toEqual(["Commands of this session made nothing that git ignores."]);
});
