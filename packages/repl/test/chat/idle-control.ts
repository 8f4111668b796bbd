import { createRouterTransport } from "@connectrpc/connect";
import { ReplControl } from "#control/repl-control";

/** An app whose server answers nothing. */
export function idleControl(): ReplControl {
  return new ReplControl({
    kind: "page",
    transport: createRouterTransport(() => undefined),
    launch: {
      clientId: "c",
      clientName: "test",
      version: "1",
      workspace: "/w",
      sessionId: undefined,
      state: undefined,
      settings: { showThinking: true, backend: "", model: "", modelUrl: "", editingMode: "branch", scenario: "" },
    },
    keepModel: async () => undefined,
    saveState: () => undefined,
    showsSession: () => undefined,
    onNotice: () => () => undefined,
  });
}
