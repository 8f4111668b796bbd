import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { refusalOf, startSession } from "../../e2e/rpc/session-client.ts";
import { offeredTools } from "../recorded/offered-tools.ts";
import type { RecordedCall } from "../recorded/recorded-calls.ts";
import type { Score } from "../score/score.ts";

/** What counts calls by whether they fit the tools, shell commands by what the rules say, and tools that are not here, by name. */
export interface CallScores {
  readonly schemas: Score;
  readonly commands: Score;
  readonly otherTools: Map<string, number>;
}

/**
 * Asks a real server about each call as it was made: does it fit the tool that a model is offered, as it is or after the gate has
 * put it into the tool's own words, and what do the rules say? Nothing runs. Shell commands are judged as this machine runs
 * them: staged, where it can.
 */
export async function playCalls(calls: readonly RecordedCall[], scores: CallScores): Promise<void> {
  await using server = await startTestServer({ server: { commands: "auto" } });
  const tools = await offeredTools(server);
  const { governance } = server;
  const sessionId = await startSession(server);
  for (const { tool, ours, cwd, from } of calls) {
    if (ours === undefined) {
      scores.otherTools.set(tool, (scores.otherTools.get(tool) ?? 0) + 1);
      continue;
    }
    // The agent's own directory is this workspace.
    const text = JSON.stringify(ours.input);
    const argumentsJson = cwd === "" ? text : text.replaceAll(cwd, server.workspace.root);
    const asked = governance.checkPolicy({ sessionId, tool: ours.tool, argumentsJson });
    const { info, code, message } = await refusalOf(asked);
    const example = `${from} ${tool} ${text}`;
    if (code !== "ok") {
      if (/no tool named/.test(message)) scores.otherTools.set(tool, (scores.otherTools.get(tool) ?? 0) + 1);
      else scores.schemas.add("failed", { why: `${ours.tool}: ${classOf(message, info)}`, example });
      continue;
    }
    const isOffered = tools.get(ours.tool)?.(JSON.parse(argumentsJson)) === true;
    scores.schemas.add(isOffered ? "accepted" : "normalised");
    if (!/^bash$/i.test(ours.tool)) continue;
    const { verdict, rules } = await asked;
    const why = rules.map(({ rule }) => rule).join(", ");
    if (verdict === Verdict.ALLOW) scores.commands.add("accepted");
    else if (/^tool\//.test(why)) scores.commands.add("failed", { why, example });
    else scores.commands.add(verdict === Verdict.ASK ? "asked" : "refused", { why, example });
  }
}

/** The message in one line, without what is of this one call. */
function classOf(message: string, info: string | undefined): string {
  const problems = message
    .replace(/^The arguments of \w+ do not fit:/, "")
    .replace(/Call \w+ again with arguments.*$/s, "");
  const line = problems
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\[\d+\]/g, "[N]")
    .trim();
  return line.slice(0, 200) || (info ?? "unknown");
}
