import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { TestServer } from "@gennai/testkit/test-server";
import { eventsOf, runTurn } from "../../e2e/rpc/session-client.ts";
import type { BareRun } from "./bare-run.ts";

/** The result of a turn whose model made one call. */
export interface StagedTurn extends BareRun {
  /** Rules that did not allow, and whether they refused. */
  readonly fired: readonly { readonly rule: string; readonly refused: boolean }[];
}

export async function stagedTurn(server: TestServer, sessionId: string, text: string): Promise<StagedTurn> {
  const events = await runTurn(server, sessionId, text);
  const fired = eventsOf(events, "gateDecision")
    // The project's own check after a change is another question.
    .filter(({ rule, verdict }) => !rule.startsWith("project-check/") && verdict !== Verdict.ALLOW)
    .map(({ rule, verdict }) => ({ rule, refused: verdict === Verdict.DENY }));
  const { output = "", exitCode } = eventsOf(events, "toolResult")[0] ?? {};
  return {
    fired,
    exitCode,
    output: output.replace(/\n?\[(?:exit code \d+|ended by|timed out)[^\n]*\](?:\n\[.*\])*$/s, ""),
  };
}
