import { toHomeSchema } from "@gennai/client/home/home-messages";
import type { HomeNotice, ReplHome } from "@gennai/client/home/repl-home";
import { describe, expect, it } from "vitest";
import { connectWebviewHome, type WebviewWindow } from "#homes/webview-home";

const launch = {
  type: "launch",
  launch: {
    clientId: "c",
    clientName: "test",
    version: "1",
    workspace: "/w",
    state: { draft: "x" },
    settings: { showThinking: true, backend: "", model: "", modelUrl: "", editingMode: "branch", scenario: "" },
  },
};

/** A webview's frame, whose host is the test. */
function frame() {
  let listener: (event: MessageEvent<unknown>) => void = () => undefined;
  const posted: unknown[] = [];
  const window: WebviewWindow = {
    origin: "vscode-webview://one",
    addEventListener: (_type, added) => {
      listener = added;
    },
    removeEventListener: () => undefined,
  };
  const send = (data: unknown, origin = "vscode-webview://one") =>
    listener(new MessageEvent("message", { data, origin }));
  const connected = connectWebviewHome({ postMessage: (message) => posted.push(message) }, window);
  return { connected, send, posted };
}

async function launched() {
  const { connected, send, posted } = frame();
  send(launch);
  return { home: await connected, send, posted };
}

describe("the home in a webview", () => {
  it("begins with what the host sends, and says nothing that the host would not take", async () => {
    const { home, posted } = await launched();
    expect(home.launch).toMatchObject({ clientId: "c", workspace: "/w", sessionId: undefined, state: { draft: "x" } });
    home.showsSession("s");
    home.saveState({ draft: "y" });
    void home.openFile?.("a.ts", 3);
    void home.openDiff?.("p", "1");
    void home.editorContext?.();
    void home.runHomeCommand?.("showLog");
    const decision = { type: "edited", text: "t" } as const;
    void home.applyProposal?.({
      sessionId: "s",
      proposalId: "p",
      hunks: [{ changeId: "1", hunkId: "2", decision }],
      note: "",
    });
    expect(posted.map((message) => toHomeSchema.safeParse(message).success)).toEqual(posted.map(() => true));
    expect(posted[0]).toEqual({ type: "ready" });
  });

  it("hears nothing of another origin", async () => {
    const { connected, send } = frame();
    let home: ReplHome | undefined;
    void connected.then((found) => {
      home = found;
    });
    for (const origin of ["https://evil.example", "null", "", "vscode-webview://two"]) send(launch, origin);
    await Promise.resolve();
    expect(home).toBeUndefined();
    send(launch);
    home = await connected;
    const heard: HomeNotice[] = [];
    home.onNotice((notice) => heard.push(notice));
    const notice = { type: "notice", notice: { type: "prompt", text: "rm -rf /", send: true } };
    send(notice, "https://evil.example");
    expect(heard).toEqual([]);
    send(notice);
    expect(heard).toHaveLength(1);
  });

  it.each([
    null,
    1,
    "launch",
    {},
    { type: "notice" },
    { type: "notice", notice: { type: "eval", code: "1" } },
    { ...launch, more: 1 },
  ])("hears nothing that is no message: %j", async (message) => {
    const { home, send } = await launched();
    const heard: HomeNotice[] = [];
    home.onNotice((notice) => heard.push(notice));
    send(message);
    expect(heard).toEqual([]);
  });

  it("gives each request its own answer", async () => {
    const { home, send, posted } = await launched();
    const context = home.editorContext?.();
    const opened = home.openFile?.("../outside");
    const ids = posted.slice(-2).map((message): unknown => Reflect.get(Object(message), "id"));
    send({ type: "answer", id: ids[1], value: null, error: "That is outside the workspace." });
    send({
      type: "answer",
      id: ids[0],
      value: { activeFile: "a.ts", openFiles: ["a.ts", 7], selection: { startLine: "x" } },
    });
    await expect(opened).rejects.toThrow("outside the workspace");
    expect(await context).toEqual({ activeFile: "a.ts", openFiles: ["a.ts"], selection: undefined });
  });
});
