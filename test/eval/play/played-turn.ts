import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { TestServer } from "@gennai/testkit/test-server";
import { eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import type { Call } from "../recorded/change-calls.ts";

/** The result of one call. */
export interface PlayedCall {
  readonly outcome: "accepted" | "asked" | "refused" | "failed";
  /** The rule that did not allow it, or why the tool failed; empty for what went well. */
  readonly why: string;
  readonly output: string;
  readonly exitCode: number | undefined;
  readonly truncated: boolean;
}

/**
 * A session of its own in which the scripted model makes these calls, an answer for each list, with nobody to ask. The result of
 * them, in the same order.
 */
export async function playTurn(
  server: TestServer,
  answers: readonly (readonly Call[])[],
): Promise<readonly (readonly PlayedCall[])[]> {
  const steps = answers.flatMap((calls) => [{ text: "I go on." }, ...calls.map((tool) => ({ tool }))]);
  const model = await server.scriptFile([{ steps: [...steps, { text: "Done." }] }]);
  const sessionId = await startSession(server, { settings: { model } });
  const events = await runTurn(server, sessionId, "go");
  const decisions = new Map(
    // The project's own check after a change is another question.
    eventsOf(events, "gateDecision")
      .filter(({ rule, verdict }) => verdict !== Verdict.ALLOW && !rule.startsWith("project-check/"))
      .map((decision) => [decision.toolCallId, decision]),
  );
  const results = new Map(eventsOf(events, "toolResult").map((result) => [result.id, result]));
  return answers.map((calls, answer) =>
    calls.map((_call, index): PlayedCall => {
      const id = `script-1-${answer + 1}-${index + 1}`;
      const [decision, result] = [decisions.get(id), results.get(id)];
      const { output = "", error = "the turn ended before it", exitCode, truncated = false } = result ?? {};
      const isAnswered = exitCode !== undefined;
      // A tool that cannot do what it was asked is no rule's refusal.
      const isRule = decision !== undefined && !/^(?:tool|gate)\//.test(decision.rule);
      const outcome = isRule
        ? decision.verdict === Verdict.ASK
          ? "asked"
          : "refused"
        : error === "" || isAnswered
          ? "accepted"
          : "failed";
      const why = outcome === "accepted" ? "" : decision === undefined ? error : decision.rule;
      return { outcome, why, output, exitCode, truncated };
    }),
  );
}
