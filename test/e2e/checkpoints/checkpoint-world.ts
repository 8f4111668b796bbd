import { startTestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { startSession, Watcher } from "../rpc/session-client.ts";

export type Step = Readonly<Record<string, unknown>>;
export const call = (name: string, args: Record<string, unknown>): Step => ({ tool: { name, args } });
export const bash = (command: string): Step => call("Bash", { command });

/** A server whose model does these steps for the word that names them, and a person who says yes to everything. */
export async function world(
  turns: Readonly<Record<string, readonly Step[]>>,
  files: Readonly<Record<string, string>> = {},
  options: NonNullable<TestServerOptions["server"]> = {},
) {
  const script = Object.entries(turns).map(([word, steps]) => ({
    match: `^${word}$`,
    steps: [...steps, { text: ["Done."] }],
  }));
  const server = await startTestServer({ files, script, server: options });
  const sessionId = await startSession(server, { interactive: true });
  const editor = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
  const asked: string[] = [];
  return {
    server,
    sessionId,
    /** Reasons of the questions so far. */
    asked,
    run: async (word: string): Promise<string> => {
      const { turnId } = await server.client.startTurn({ sessionId, userInput: word, clientTurnId: word });
      const ended = editor.end(turnId);
      let over = false;
      ended.finally(() => (over = true)).catch(() => undefined);
      while (!over) {
        const question = await Promise.race([
          editor.next("confirmationRequest", asked.length).catch(() => undefined),
          ended.then(() => undefined),
        ]);
        if (question === undefined) break;
        asked.push(question.parts.map(({ reason }) => reason).join(""));
        await editor.answer(question);
      }
      return ended;
    },
    [Symbol.asyncDispose]: async () => {
      await editor[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
