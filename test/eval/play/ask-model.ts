import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import type { Task } from "../recorded/tasks.ts";
import { textInside } from "./inside.ts";
import { playTurn } from "./played-turn.ts";

export interface ModelAddress {
  /** Of chat completions, e.g. `http://127.0.0.1:8000/v1`. */
  readonly url: string;
  readonly name: string;
  /** What the server wants to see; empty where it wants nothing. */
  readonly key: string;
}

/** How a model did with one task. */
export interface Attempt {
  readonly task: string;
  readonly isSolved: boolean;
  /** How its turn ended, e.g. `COMPLETED`. */
  readonly end: string;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Calls that rules asked about (nobody answers), that they refused, and that failed. */
  readonly asked: number;
  readonly refused: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
}

/**
 * One turn of a real model with a task, in a session of a real server with nobody to ask. What it left is tested apart: the
 * task's own tests are put back first, and run in a copy.
 */
export async function askModel(task: Task, model: ModelAddress): Promise<Attempt> {
  await using server = await startTestServer({
    files: task.files,
    server: { commands: "auto", environment: { ...process.env, GENNAI_API_KEY: model.key } },
  });
  const settings = { backend: Backend.OPENAI_COMPATIBLE, model: model.name, baseUrl: model.url };
  const sessionId = await startSession(server, { settings });
  const began = performance.now();
  const events = await runTurn(server, sessionId, promptFor(task));
  const seconds = (performance.now() - began) / 1000;
  const decisions = eventsOf(events, "gateDecision");
  const results = eventsOf(events, "toolResult");
  const usage = eventsOf(events, "usage");
  return {
    task: task.name,
    isSolved: await passes(task, (path) => textInside(server.workspace.root, path) ?? ""),
    end: endState(events),
    modelCalls: usage.length,
    toolCalls: results.length,
    asked: decisions.filter(({ verdict }) => verdict === Verdict.ASK).length,
    refused: decisions.filter(({ verdict }) => verdict === Verdict.DENY).length,
    failed: results.filter(({ error }) => error !== "").length,
    inputTokens: usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    seconds,
  };
}

function promptFor({ instructions, solution, tests, command }: Task): string {
  return [
    instructions.trim(),
    `Write the solution into ${Object.keys(solution).join(", ")}. Do not change ${tests.join(", ")}. The tests run with \`${command}\`.`,
  ].join("\n\n");
}

/** A model's code runs as its commands do, staged where this machine can. */
async function passes(task: Task, read: (path: string) => string): Promise<boolean> {
  const paths = Object.keys(task.solution);
  // A link of the model's that leads elsewhere is no solution.
  const left = paths.map((path) => [path, read(path)] as const);
  await using server = await startTestServer({
    files: { ...task.files, ...Object.fromEntries(left) },
    steps: [{ text: "Nothing." }],
    server: { commands: "auto" },
  });
  const [[tested] = []] = await playTurn(server, [
    [{ name: "Bash", args: { command: task.command, timeout_ms: 120_000 } }],
  ]);
  return tested?.exitCode === 0;
}
