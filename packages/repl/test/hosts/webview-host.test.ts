import type { HostNotice } from "@gennai/client/host/host-messages";
import { toHostSchema } from "@gennai/client/host/host-messages";
import { describe, expect, it } from "vitest";
import type { ReplHost } from "#hosts/repl-host";
import { connectWebviewHost, type WebviewWindow } from "#hosts/webview-host";

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
  const connected = connectWebviewHost({ postMessage: (message) => posted.push(message) }, window);
  return { connected, send, posted };
}

async function launched() {
  const { connected, send, posted } = frame();
  send(launch);
  return { host: await connected, send, posted };
}

describe("the host in a webview", () => {
  it("begins with what the host sends, and says nothing that the host would not take", async () => {
    const { host, posted } = await launched();
    expect(host.launch).toMatchObject({ clientId: "c", workspace: "/w", sessionId: undefined, state: { draft: "x" } });
    host.showsSession("s");
    host.saveState({ draft: "y" });
    void host.openFile?.({ path: "a.ts", line: 3 });
    void host.openDiff?.({ proposalId: "p", changeId: "1" });
    void host.editorContext?.();
    void host.runHostCommand?.("showLog");
    const decision = { type: "edited", text: "t" } as const;
    void host.applyProposal?.({
      sessionId: "s",
      proposalId: "p",
      hunks: [{ changeId: "1", hunkId: "2", decision }],
      note: "",
    });
    expect(posted.map((message) => toHostSchema.safeParse(message).success)).toEqual(posted.map(() => true));
    expect(posted[0]).toEqual({ type: "ready" });
  });

  it("hears nothing of another origin", async () => {
    const { connected, send } = frame();
    let host: ReplHost | undefined;
    void connected.then((found) => {
      host = found;
    });
    for (const origin of ["https://evil.example", "null", "", "vscode-webview://two"]) send(launch, origin);
    await Promise.resolve();
    expect(host).toBeUndefined();
    send(launch);
    host = await connected;
    const heard: HostNotice[] = [];
    host.onNotice((notice) => heard.push(notice));
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
  ])("hears nothing that is not a message: %j", async (message) => {
    const { host, send } = await launched();
    const heard: HostNotice[] = [];
    host.onNotice((notice) => heard.push(notice));
    send(message);
    expect(heard).toEqual([]);
  });

  it("gives each request its own answer", async () => {
    const { host, send, posted } = await launched();
    const context = host.editorContext?.();
    const opened = host.openFile?.({ path: "../outside" });
    const ids = posted.slice(-2).map((message): unknown => Reflect.get(Object(message), "id"));
    send({ type: "answer", id: ids[1], value: null, error: "That is outside the workspace." });
    send({
      type: "answer",
      id: ids[0],
      value: { activeFile: "a.ts", openFiles: ["a.ts"] },
    });
    await expect(opened).rejects.toThrow("outside the workspace");
    expect(await context).toEqual({ activeFile: "a.ts", openFiles: ["a.ts"], selection: undefined });
  });
});
