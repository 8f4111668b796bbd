import { RememberedAnswers } from "@gennai/governance/gate/confirm/remembered-answers";
import { governTools } from "@gennai/governance/gate/gate";
import { meet, switchesLimit } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import { createContainmentPolicy } from "@gennai/governance/policies/files/containment";
import { createControlFilesPolicy } from "@gennai/governance/policies/files/control-files";
import { createFreshnessPolicy } from "@gennai/governance/policies/files/freshness";
import { createPathListsPolicy } from "@gennai/governance/policies/files/path-lists";
import { createRedactionMarkerPolicy } from "@gennai/governance/policies/files/redaction-marker";
import { createSecretsPolicy } from "@gennai/governance/policies/files/secrets";
import { createHighRiskPolicy } from "@gennai/governance/policies/high-risk";
import type { Policy } from "@gennai/governance/policy";
import type { Tool } from "@gennai/governance/tool";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import { bashTool } from "@gennai/sessions/tools/commands/bash-tool";
import { readTool } from "@gennai/sessions/tools/reading/read-tool";
import type { BenchWorld } from "../bench-world.ts";
import { smallFile } from "../model-script.ts";
import type { Reading } from "../table/reading.ts";
import { percentile } from "../table/statistics.ts";

const calls = {
  read: { name: "Read", arguments: { file_path: smallFile } },
  command: { name: "Bash", arguments: { command: `cd src && cat ${smallFile} | grep -n line | head -5` } },
};

/** Stages 1 to 4 with the policies of a turn, and 300 rules of the project. */
export async function measureGate(world: BenchWorld): Promise<readonly Reading[]> {
  return (await gateDecisions(world, 300)).flatMap(({ name, times }): readonly Reading[] => [
    {
      name: `gate decision with 300 rules, ${name}, p50`,
      unit: "us",
      figure: percentile(times, 0.5),
      target: { type: "most", value: 100 },
    },
    {
      name: `gate decision with 300 rules, ${name}, p99`,
      unit: "us",
      figure: percentile(times, 0.99),
      target: { type: "most", value: 1000 },
    },
  ]);
}

/** Microseconds that each decision about a read, and about a command, takes with so many rules of the project. */
export async function gateDecisions(
  world: BenchWorld,
  rules: number,
): Promise<readonly { readonly name: string; readonly times: readonly number[] }[]> {
  const root = world.workspace();
  const workspace = openLocalWorkspace(root, { stateDir: world.directory() });
  const editor = {
    can: () => false,
    readFile: noEditor,
    applyChanges: noEditor,
    runCommand: noEditor,
    listDiagnostics: noEditor,
    findSymbols: noEditor,
  };
  const denyPaths = Array.from(
    { length: rules },
    (_, rule) => `private/part-${rule}/**/*.${rule % 2 === 0 ? "key" : "secret"}`,
  );
  const policies: readonly Policy[] = [
    createLimitsPolicy({ current: () => meet([], [switchesLimit(noEmergency)]) }),
    createContainmentPolicy({ root }),
    createControlFilesPolicy({ root, directories: [], entriesIn: async () => [] }),
    createSecretsPolicy(),
    createPathListsPolicy({ allow: undefined, deny: denyPaths }),
    createHighRiskPolicy(),
    createFreshnessPolicy(),
    createRedactionMarkerPolicy(),
  ];
  const tools: readonly Tool[] = [
    readTool({ workspace, editor, outputs: { text: async () => undefined } }),
    bashTool({
      workspace,
      home: root,
      blobs: { put: () => Promise.reject(new Error("Nothing runs here.")) },
      environment: {},
      shellArguments: () => [],
    }),
  ];
  const gate = governTools({
    sessionId: "bench",
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    policies,
    confirmer: { ask: () => Promise.reject(new Error("Nobody is asked.")) },
    journal: { decided() {}, async begin() {}, async reached() {}, async end() {}, output() {}, warn() {} },
    redactor: await createRedactor({ secrets: [] }),
    remembered: new RememberedAnswers(),
    policySha256: "",
    policyTimeoutMs: 1000,
    now: Date.now,
  });
  const { signal } = new AbortController();
  const measured: { readonly name: string; readonly times: readonly number[] }[] = [];
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
      if (decided.type !== "decided" || decided.verdict.type !== "allow")
        throw new Error(`The ${name} call is not allowed.`);
    }
    measured.push({ name, times });
  }
  return measured;
}

function noEditor(): Promise<never> {
  return Promise.reject(new Error("There is no editor."));
}
