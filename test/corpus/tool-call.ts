import assert from "node:assert/strict";
import { call } from "@gennai/testkit/scripted-steps";
import type { Files } from "@gennai/testkit/temporary-repository";
import {
  type ScriptedTurn,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "@gennai/testkit/test-server";
import { z } from "zod";
import { eventsOf, runTurn, startSession, Watcher } from "../e2e/rpc/session-client.ts";

/** What happened to one call of a tool, as the model hears it. */
export interface Called {
  /** `ok`, or the code of the error. */
  readonly code: string;
  readonly output: string;
  readonly verdicts: readonly number[];
}

export interface CallOptions {
  readonly files?: Files;
  /** Calls made before, whose results do not matter. */
  readonly first?: readonly ToolUse[];
  /** Changes the world before the turn. */
  readonly prepare?: (server: TestServer) => Promise<unknown>;
  /** Changes the world while the question is open; then the answer is yes. Without it, no question is possible. */
  readonly whileAsked?: (server: TestServer) => Promise<unknown>;
  /** Looks at the world after the turn. */
  readonly after?: (server: TestServer, called: Called) => Promise<unknown>;
  readonly workingDir?: (server: TestServer) => string;
  readonly server?: TestServerOptions["server"];
}

export interface ToolUse {
  readonly tool: string;
  readonly args: object;
}

/** Calls a tool in a turn of a whole server, through the gate with every policy. */
export async function callTool(tool: string, args: object, options: CallOptions = {}): Promise<Called> {
  const uses = [...(options.first ?? []), { tool, args }];
  await using server = await startTestServer({
    files: { "src/a.ts": "export const a = 1;\n", ...options.files },
    script: [scriptOf(uses)],
    server: { confirmation: { answerMs: 5_000, waitForClientMs: 200 }, ...options.server },
  });
  await options.prepare?.(server);
  const interactive = options.whileAsked !== undefined;
  const workingDir = options.workingDir?.(server) ?? "";
  const sessionId = await startSession(server, { interactive, settings: { workingDir } });
  const called = interactive
    ? await callAsked(server, sessionId, options)
    : calledLast(await runTurn(server, sessionId, "go"));
  await options.after?.(server, called);
  return called;
}

async function callAsked(server: TestServer, sessionId: string, options: CallOptions): Promise<Called> {
  await using editor = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const question = await editor.next("confirmationRequest");
  await options.whileAsked?.(server);
  await editor.answer(question);
  await editor.end();
  return calledLast(editor.events);
}

/** A turn that makes these calls, one after the other. */
export function scriptOf(uses: readonly ToolUse[]): ScriptedTurn {
  const steps = uses.flatMap(({ tool, args }) => [call(tool, args), { text: ["."] }]);
  return { match: ".", steps };
}

const toolError = z.object({ error: z.object({ code: z.string() }) });

/** The last call among events of a turn. */
export function calledLast(events: Parameters<typeof eventsOf>[0]): Called {
  const result = eventsOf(events, "toolResult").at(-1);
  assert.ok(result, "the turn made no call");
  return {
    code: result.error === "" ? "ok" : codeOf(result.output),
    output: result.output,
    verdicts: eventsOf(events, "gateDecision").map(({ verdict }) => verdict),
  };
}

function codeOf(output: string): string {
  try {
    return toolError.parse(JSON.parse(output)).error.code;
  } catch {
    return "failed";
  }
}

/** A check that such a call ends with one of these codes. */
export async function expectCode(
  codes: string | readonly string[],
  tool: string,
  args: object,
  options: CallOptions = {},
): Promise<void> {
  const called = await callTool(tool, args, options);
  const wanted = [codes].flat();
  assert.ok(
    wanted.includes(called.code),
    `${tool} ${JSON.stringify(args)} gave ${called.code}, not ${wanted.join(" or ")}: ${called.output.slice(0, 300)}`,
  );
}
