import { beforeEach, expect, test, vi } from "vitest";
import { commitMessage } from "#commands/changes/commit-message-command";
import type { Workbench } from "#commands/workbench";

const { Uri, boxes, asked, model } = vi.hoisted(() => {
  class Uri {
    readonly scheme = "file";
    readonly fsPath: string;
    constructor(fsPath: string) {
      this.fsPath = fsPath;
    }
    static file(path: string): Uri {
      return new Uri(path);
    }
    toString(): string {
      return `file://${this.fsPath}`;
    }
  }
  return { Uri, boxes: new Map<string, { value: string }>(), asked: [] as string[], model: { failure: "" } };
});
vi.mock("vscode", () => ({
  Uri,
  ProgressLocation: { SourceControl: 1 },
  commands: { executeCommand: async () => undefined },
  workspace: {},
  window: {
    withProgress: (_options: unknown, task: (progress: unknown, cancel: unknown) => unknown) =>
      task({}, { onCancellationRequested: () => undefined }),
  },
}));
vi.mock("#git/vscode-git", () => ({
  gitRepository: async (folder: InstanceType<typeof Uri>) => ({
    rootUri: folder,
    inputBox: boxes.get(folder.fsPath),
    status: async () => undefined,
    state: {
      HEAD: undefined,
      indexChanges: [{ uri: new Uri(`${folder.fsPath}/a.ts`) }],
      workingTreeChanges: [{ uri: new Uri(`${folder.fsPath}/b.ts`) }],
    },
  }),
}));
vi.mock("@gennai/client/governance/intents", () => ({ listIntents: async () => ({ active: undefined }) }));
vi.mock("#session/read-settings", () => ({ readSessionSettings: async () => ({ backend: "model" }) }));
vi.mock("@gennai/client/session/watched-turn", () => ({
  turnAnswer: async ({ sessionId }: { readonly sessionId: string }, { text }: { readonly text: string }) => {
    asked.push(`${sessionId}: ${text}`);
    if (model.failure !== "") throw new Error(model.failure);
    return "Of the model";
  },
}));

const workbench = {
  root: "/w",
  session: async () => ({
    sessionId: "s",
    client: {
      forkSession: async () => ({ sessionId: "copy" }),
      resumeSession: async () => ({}),
      deleteSession: async ({ sessionId }: { readonly sessionId: string }) =>
        void asked.push(`${sessionId} is deleted`),
    },
  }),
  connect: async () => ({}),
  sessions: { view: { cells: [] } },
} as unknown as Workbench;

beforeEach(() => {
  boxes.clear();
  for (const path of ["/w", "/w/nested"]) boxes.set(path, { value: "" });
  asked.length = 0;
  model.failure = "";
});

test.each([[[]], [[{ rootUri: new Uri("/w") }]]])(
  "what is staged of the folder's repository is described: %j",
  async (args) => {
    await commitMessage(workbench, args);
    expect(asked).toEqual([expect.stringMatching(/^copy: .*these changes: @staged\n/), "copy is deleted"]);
    expect([...boxes.values()]).toEqual([{ value: "Of the model" }, { value: "" }]);
  },
);

test("the button of another repository fills its own box, and asks no model about the folder's changes", async () => {
  await commitMessage(workbench, [{ rootUri: new Uri("/w/nested") }]);
  expect(asked).toEqual([]);
  expect([...boxes.values()]).toEqual([{ value: "" }, { value: "Change a.ts\n\nFiles: a.ts" }]);
});

test("where the model fails, the message is built of the facts", async () => {
  model.failure = "The provider refuses the key.";
  await commitMessage(workbench, []);
  expect(boxes.get("/w")?.value).toBe("Change a.ts\n\nFiles: a.ts");
});
