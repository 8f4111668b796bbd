import { expect, test } from "vitest";
import * as z from "zod";
import { analyseCommand } from "#command/analyse-command";
import type { Answer } from "#confirmation";
import type { AllowedEndpoint } from "#connection";
import type { LastingConnections, StandingConnection } from "#gate/confirm/lasting-connections";
import { RememberedAnswers } from "#gate/confirm/remembered-answers";
import type { GateOptions } from "#gate/gate-options";
import { createLimitsPolicy } from "#limits/limits-policy";
import { runProgram } from "#network/run-program";
import { createConnectionsPolicy } from "#policies/connections";
import type { ConnectionJudgement, Tool } from "#tool";
import { ask, deny } from "#verdict";
import { finding, gateWith } from "./gate-fixture.ts";

const registry: AllowedEndpoint = { host: "registry.example", port: 443 };

/** A tool that runs a command which wants these, and says what it heard. */
function wanting(
  text: string,
  endpoints: readonly AllowedEndpoint[],
  heard: ConnectionJudgement[],
  stand = false,
): Tool {
  const command = analyseCommand(text, { cwd: "/ws", home: "/home/dev", workspace: "/ws" });
  const cwd = { raw: ".", relative: "", absolute: "/ws", inside: true };
  return {
    name: "Bash",
    description: "",
    access: "change",
    parameters: z.strictObject({}),
    async analyse() {
      return { statement: "Run", effects: [{ type: "exec", command, cwd, where: "server", staged: true }] };
    },
    async execute(_args, _analysis, { network }) {
      heard.push(await network.letThrough({ program: runProgram(command), endpoints, stand }));
      return { output: "ran" };
    },
  };
}

function bench(
  text: string,
  endpoints: readonly AllowedEndpoint[],
  more: Partial<GateOptions> & { readonly answer?: Answer; readonly stand?: boolean } = {},
) {
  const heard: ConnectionJudgement[] = [];
  const { policies = [], stand, ...options } = more;
  const tools = new Map([["Bash", wanting(text, endpoints, heard, stand)]]);
  return { heard, ...gateWith({ tools, policies: [createConnectionsPolicy(), ...policies], ...options }) };
}

const yes = (scope: "once" | "session" | "workspace"): Answer => ({ type: "yes", scope, by: "dev" });

function kept(): LastingConnections & { readonly all: Map<string, readonly StandingConnection[]> } {
  const all = new Map<string, readonly StandingConnection[]>();
  return {
    all,
    find: async (program) => all.get(program) ?? [],
    remember: async (program, connections) => void all.set(program, connections),
  };
}

test("one question names program, hosts and ports; a yes is recorded before anything is let through", async () => {
  const endpoints = [registry, { host: "files.example", port: 8443 }];
  const { heard, run, questions, steps } = bench("npm install", endpoints, { answer: yes("once") });
  await run("Bash");
  expect(questions).toHaveLength(1);
  expect(questions[0]?.title).toBe("Let npm install reach registry.example:443, files.example:8443?");
  expect(heard).toMatchObject([{ type: "let-through", allowed: endpoints }]);
  expect(steps.filter((step) => step.startsWith("begin"))).toHaveLength(2);
});

test.each([
  ["no", { type: "no", reason: "not now", by: "dev" }],
  ["unclear", { type: "unclear", by: "dev" }],
  ["timeout", { type: "timeout" }],
  ["nobody", { type: "nobody" }],
] as const)("an answer that is %s lets nothing through, and names what was wanted", async (_name, answer) => {
  const { heard, run } = bench("npm install", [registry], { answer });
  await run("Bash");
  expect(heard).toMatchObject([
    { type: "refused", error: { message: expect.stringContaining("registry.example:443") } },
  ]);
});

test.each([
  ["a connection that it wanted", "permission_denied", false],
  ["one that stood before", undefined, true],
])("a call that is refused %s ends as %s", async (_name, failureClass, stand) => {
  const { run } = bench("npm install", [registry], { answer: { type: "nobody" }, stand });
  expect(await run("Bash")).toMatchObject([{ output: "ran", failureClass }]);
});

test("what a policy denies is refused without a question, also where an answer stands", async () => {
  const remembered = new RememberedAnswers();
  remembered.rememberConnections("npm install", [{ ...registry, callId: "c" }]);
  const without = createLimitsPolicy({
    current: () => [
      { name: "offline", holder: "user", file: "", lines: {}, capabilities: ["read", "write", "execute"] },
    ],
  });
  const { heard, run, questions } = bench("npm install", [registry], { policies: [without], remembered });
  await run("Bash");
  expect(heard).toMatchObject([{ type: "refused", error: { rule: "capabilities/network" } }]);
  expect(questions).toEqual([]);
  const denied = bench("npm install", [registry], {
    policies: [
      {
        name: "x",
        kind: "guard",
        decide: ({ analysis }) => (analysis.effects.some(({ type }) => type === "net") ? deny(finding) : ask(finding)),
      },
    ],
    answer: yes("once"),
  });
  await denied.run("Bash");
  expect(denied.heard).toMatchObject([{ type: "refused", error: { rule: "test/rule" } }]);
});

test.each(["session", "workspace"] as const)(
  "a yes for the %s is for that program and verb, host and port",
  async (scope) => {
    const [connections, remembered] = [kept(), new RememberedAnswers()];
    const first = bench("npm install", [registry], { connections, remembered, answer: yes(scope) });
    await first.run("Bash");
    expect(connections.all.get("npm install") ?? []).toMatchObject(scope === "workspace" ? [registry] : []);
    for (const [text, endpoint, asked] of [
      ["npm i lefty", registry, 0],
      ["npm ci", registry, 1],
      ["npm test", registry, 1],
      ["npm install && node x.js", registry, 1],
      ["npm install", { ...registry, port: 8443 }, 1],
      ["npm install", { ...registry, host: "evil.registry.example" }, 1],
      ["npm install", { ...registry, address: "10.0.0.7" }, 1],
    ] as const) {
      const answer = { type: "no", reason: "", by: "dev" } as const;
      const later = bench(text, [endpoint], { connections, remembered, answer });
      await later.run("Bash");
      expect(later.questions, `${text} ${JSON.stringify(endpoint)}`).toHaveLength(asked);
    }
  },
);

test("only what no answer covers is asked about", async () => {
  const remembered = new RememberedAnswers();
  remembered.rememberConnections("npm install", [{ ...registry, callId: "c" }]);
  const other = { host: "files.example", port: 443 };
  const { heard, run, questions } = bench("npm install", [registry, other], { remembered, answer: yes("once") });
  await run("Bash");
  expect(questions[0]?.title).toBe("Let npm install reach files.example:443?");
  expect(heard).toMatchObject([{ type: "let-through", allowed: [registry, other] }]);
  expect(remembered.connections("npm install")).toHaveLength(1);
});

test.each(["npm test", "node x.js", "npm run x", "sh x.sh", "npm install && npm test"])(
  "a yes to %s is for once, whatever the answer says",
  async (text) => {
    const connections = kept();
    const remembered = new RememberedAnswers();
    for (const scope of ["session", "workspace"] as const) {
      const { run, questions } = bench(text, [registry], { connections, remembered, answer: yes(scope) });
      await run("Bash");
      expect(questions[0]?.offeredScopes).toEqual(["once"]);
    }
    expect(connections.all.size).toBe(0);
    expect(bench(text, [registry], { remembered }).options.remembered.connections(text)).toEqual([]);
  },
);

test("where a cloud hands out keys is asked about each time", async () => {
  const metadata = { host: "169.254.169.254", port: 80 };
  const { run, questions } = bench("curl http://169.254.169.254/", [metadata], { answer: yes("once") });
  await run("Bash");
  expect(questions[0]?.offeredScopes).toEqual(["once"]);
});
