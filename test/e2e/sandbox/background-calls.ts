import { BackgroundRunState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { TestServer } from "@gennai/testkit/test-server";

/** Of a model. */
export type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

export const bash = (command: string): Call => ["Bash", { command }];
export const inBackground = (command: string): Call => ["Bash", { command, run_in_background: true }];
export const output = (id = "b1"): Call => ["BashOutput", { bash_id: id }];
export const kill = (id = "b1"): Call => ["KillShell", { shell_id: id }];

/** Waits until a run has printed this, or has ended, and where its output ends then. */
export async function printed(
  server: TestServer,
  sessionId: string,
  words: string,
  { runId = "b1", from = 0n } = {},
): Promise<bigint> {
  for (let [after, text] = [from, ""]; ; ) {
    const read = await server.client.readBackgroundRun({ sessionId, runId, after, waitMs: 20_000 });
    text += read.text;
    after = read.end;
    if (text.includes(words) || read.run?.state === BackgroundRunState.ENDED) return after;
  }
}
