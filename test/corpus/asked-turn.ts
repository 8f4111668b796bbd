import type { ConfirmationRequest } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { startSession, Watcher } from "../e2e/rpc/session-client.ts";
import { scriptOf, type ToolUse } from "./tool-call.ts";

export interface AskedTurn extends AsyncDisposable {
  readonly server: TestServer;
  readonly editor: Watcher;
}

/** A turn that makes these calls, with a client that is asked. */
export async function askedTurn(uses: readonly ToolUse[], options: TestServerOptions = {}): Promise<AskedTurn> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer({ ...options, script: [scriptOf(uses)] }));
  const sessionId = await startSession(server, { interactive: true });
  const editor = parts.use(await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } }));
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const owned = parts.move();
  return { server, editor, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The questions of the turn, one after the other, until it ends. */
export async function* questionsOf(editor: Watcher): AsyncGenerator<ConfirmationRequest, void> {
  for (let index = 0; ; index += 1) {
    const request = await Promise.race([editor.end(), editor.next("confirmationRequest", index)]);
    if (typeof request === "string") return;
    yield request;
  }
}
