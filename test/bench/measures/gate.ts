import { governTools } from "@gennai/governance/gate/gate";
import { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import { createRedactor } from "@gennai/server/redaction/redactor";
import { KnownFiles } from "@gennai/server/sessions/known-files";
import { turnPolicies } from "@gennai/server/sessions/turn-policies";
import { createTools } from "@gennai/server/tools/tool-set";
import { openLocalWorkspace } from "@gennai/server/workspace/local-workspace";
import type { BenchWorld } from "../bench-world.ts";
import { smallFile } from "../model-script.ts";
import type { Reading } from "../reading.ts";
import { percentile } from "../statistics.ts";

const calls = {
  read: { name: "Read", arguments: { file_path: smallFile } },
  command: { name: "Bash", arguments: { command: `cd src && cat ${smallFile} | grep -n line | head -5` } },
};

/** Stages 1 to 4 with everything a turn has, and 300 rules of the project. */
export async function measureGate(world: BenchWorld): Promise<readonly Reading[]> {
  const root = world.workspace();
  const workspace = openLocalWorkspace(root, { stateDir: world.directory() });
  const editor = {
    can: () => false,
    readFile: () => Promise.reject(new Error("There is no editor.")),
    runCommand: () => Promise.reject(new Error("There is no editor.")),
  };
  const denyPaths = Array.from({ length: 300 }, (_, rule) => `private/part-${rule}/**/*.${rule % 2 === 0 ? "key" : "secret"}`);
  const policies = turnPolicies({
    workspaceRoot: root,
    editingMode: "branch",
    sessionBranch: "bench",
    protectedBranches: [],
    config: { allowPaths: undefined, denyPaths, protectedBranches: [] },
    claimTree: () => ({ type: "ours" }),
  });
  const gate = governTools({
    sessionId: "bench",
    tools: createTools({
      ...{ workspace, editor, knownFiles: new KnownFiles(), exclude: [], now: Date.now },
      blobs: { put: () => Promise.reject(new Error("Nothing is stored.")), get: async () => undefined },
      todos: { read: () => [], replace: () => undefined },
      home: root,
      environment: {},
    }),
    policies,
    confirmer: { ask: () => Promise.reject(new Error("Nobody is asked.")) },
    journal: { decided() {}, async begin() {}, async end() {}, output() {}, warn() {} },
    redactor: await createRedactor({ secrets: [] }),
    remembered: new RememberedAnswers(),
    policySha256: "",
    policyTimeoutMs: 1000,
    now: Date.now,
  });
  const { signal } = new AbortController();
  const readings: Reading[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const times: number[] = [];
    const warmUp = 500;
    for (let round = 0; round < warmUp + world.choose(5000, 2000); round += 1) {
      const start = performance.now();
      const decided = await gate.decide(
        { id: "call", name: call.name, argumentsJson: JSON.stringify(call.arguments) },
        { turnId: "turn", signal },
      );
      if (round >= warmUp) times.push((performance.now() - start) * 1000);
      if (decided.type !== "decided" || decided.verdict.type !== "allow") throw new Error(`The ${name} call is not allowed.`);
    }
    readings.push(
      { name: `gate decision with 300 rules, ${name}, p50`, unit: "us", figure: percentile(times, 0.5), target: { type: "most", value: 100 } },
      { name: `gate decision with 300 rules, ${name}, p99`, unit: "us", figure: percentile(times, 0.99), target: { type: "most", value: 1000 } },
    );
  }
  return readings;
}
