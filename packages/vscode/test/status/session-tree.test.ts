import { createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, it, vi } from "vitest";
import { SessionTree } from "../../src/status/session-tree.ts";

vi.mock("vscode", () => {
  class TreeItem {
    readonly label: string;
    constructor(label: string) {
      this.label = label;
    }
  }
  class ThemeIcon {
    readonly id: string;
    constructor(id: string) {
      this.id = id;
    }
  }
  return { TreeItem, ThemeIcon, ThemeColor: ThemeIcon };
});

it("lists the sessions of the folder while they are seen, what a click opens, and none without a server", async () => {
  const asked: string[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      listSessions: ({ workingDir }) => {
        asked.push(workingDir);
        const of = { workingDir, branch: "work" };
        const sessions = [
          { ...of, sessionId: "shown", title: "Mend the mill", runningTurnId: "t", unseenFiles: 2 },
          { ...of, sessionId: "other", question: "Run `npm test`" },
        ];
        return { sessions };
      },
    });
  });
  const { promise: listed, resolve } = Promise.withResolvers<void>();
  let isConnected = true;
  const changed = vi.fn<() => void>(resolve);
  using tree = new SessionTree({
    root: "/shop",
    agent: () => (isConnected ? createClient(AgentService, transport) : undefined),
    shown: () => "shown",
    changed,
    onProblem: (error) => {
      throw error;
    },
  });
  tree.look();
  expect(tree.getChildren()).toEqual([]);
  expect(asked).toEqual([]);
  tree.show(true);
  await listed;
  expect(asked).toEqual(["/shop"]);
  const items = tree.getChildren().map((session) => ({ session, item: tree.getTreeItem(session) }));
  expect(items.map(({ item }) => item)).toMatchObject([
    {
      id: "other",
      label: "Untitled",
      description: "Waits for you: Run `npm test` · work",
      iconPath: { id: "question" },
    },
    { id: "shown", label: "Mend the mill", description: "Works · work · 2 files to look at" },
  ]);
  expect(items[0]?.item.command).toMatchObject({ command: "gennai.sessions.open", arguments: [items[0]?.session] });
  isConnected = false;
  tree.look();
  expect([tree.getChildren(), changed.mock.calls.length]).toEqual([[], 2]);
});
