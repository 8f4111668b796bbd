import { rmSync } from "node:fs";
import { gitContentsGuard } from "@gennai/git/secrets/contents-guard";
import type { Answer } from "@gennai/governance/confirmation";
import { type CallResult, governTools } from "@gennai/governance/gate/gate";
import type { GateOptions } from "@gennai/governance/gate/gate-options";
import { emergencyVerdict } from "@gennai/governance/limits/emergency-verdict";
import { leastPrivilege, switchesLimit } from "@gennai/governance/limits/limits";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { type EmergencyState, noEmergency } from "@gennai/protocol/model/governance/emergency";
import { IntentsService } from "@gennai/sessions/intents/intents-service";
import { turnPolicies } from "@gennai/sessions/policies/turn-rules";
import { RulesService } from "@gennai/sessions/rules/rules-service";
import { afterEach, describe, expect, test } from "vitest";
import { gateWith, silentJournal } from "../../packages/governance/test/gate/gate-with.ts";
import { ToolBench } from "../../packages/sessions/test/tools/tool-bench.ts";

/** A gate with every policy of a turn, over real tools on a directory of its own. What a row leaves out stays as it is. */
interface World {
  readonly bench: ToolBench;
  emergency: EmergencyState;
  licensed: boolean;
  activeIntent: string | undefined;
  answer: Answer;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly arrange?: (world: World) => void | Promise<void>;
  readonly tool: string;
  readonly args: object;
  /** Names of the policies that are this check, or the part of the gate that is: made from a gate without it. */
  readonly check: readonly string[] | ((without: GateOptions) => Promise<Partial<GateOptions>>);
  readonly refusal: string;
  /** What must not be: true once the check is gone. */
  readonly happened: (world: World, result: CallResult) => boolean;
}

const intents =
  "active_intents:\n  - {id: INT-001, name: Work, status: active, owned_scope: ['src/**'], constraints: [], acceptance_criteria: []}\n";
const withIntents = { ".orchestration/active_intents.yaml": intents };
const rules = (yaml: string) => ({ ".gennai/rules.yaml": yaml });
const wrote =
  (path: string) =>
  ({ bench }: World) =>
    bench.text(path) === "new\n";
const write = (path: string) => ({ tool: "Write", args: { file_path: path, content: "new\n" } });
const removed =
  (path: string) =>
  ({ bench }: World) =>
    bench.text(path) === undefined;
const run = (command: string) => ({ tool: "Bash", args: { command } });
const said =
  (text: string) =>
  (_: World, { output }: CallResult) =>
    output.includes(text);
const under = (id: string) => (world: World) => {
  world.activeIntent = id;
};
const read = async ({ bench }: World, path: string) => {
  await bench.run("Read", { file_path: path });
};

const secret = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");

const rows: readonly Row[] = [
  {
    id: "seed 001 handshake",
    name: "a change without an intent",
    files: withIntents,
    ...write("src/a.ts"),
    check: ["intents"],
    refusal: "intent_required",
    happened: wrote("src/a.ts"),
  },
  {
    id: "seed 001 scope",
    name: "a file the intent does not own",
    files: withIntents,
    ...write("docs/a.md"),
    arrange: under("INT-001"),
    check: ["intents"],
    refusal: "scope_violation",
    happened: wrote("docs/a.md"),
  },
  {
    id: "seed 001 ignore",
    name: "a file that .intentignore lists",
    ...write("src/a.ts"),
    files: { ...withIntents, ".intentignore": "src/a.ts\n" },
    arrange: under("INT-001"),
    check: ["intents"],
    refusal: "intent_ignored",
    happened: wrote("src/a.ts"),
  },
  {
    id: "seed 001 expansion",
    name: "more scope without a person's yes",
    files: withIntents,
    tool: "request_scope_expansion",
    args: { paths: ["docs/**"], reason: "needed" },
    arrange: under("INT-001"),
    check: ["scope-expansion", "high-risk"],
    refusal: "nobody_to_ask",
    happened: ({ bench }) => bench.text(".orchestration/active_intents.yaml")?.includes("docs/**") === true,
  },
  {
    id: "seed 001 stale",
    name: "a file that changed since it was read",
    files: { "a.txt": "old\n" },
    arrange: async (world) => {
      await read(world, "a.txt");
      world.bench.file("a.txt", "theirs\n");
    },
    ...write("a.txt"),
    check: ["freshness"],
    refusal: "stale_file",
    happened: wrote("a.txt"),
  },
  {
    id: "seed 003 §2.2",
    name: "high impact without a yes",
    ...write(".github/workflows/ci.yml"),
    // The file is a control file as well, which asks by itself.
    check: ["high-risk", "control-files"],
    refusal: "nobody_to_ask",
    happened: wrote(".github/workflows/ci.yml"),
  },
  {
    id: "seed 003 §2.3",
    name: "a tool that is not in the registry",
    files: { "a.txt": "old\n" },
    tool: "Delete",
    args: { file_path: "a.txt" },
    arrange: (world) => read(world, "a.txt"),
    check: async ({ tools }) => ({ tools: new Map([...tools].filter(([name]) => name !== "Delete")) }),
    refusal: "unknown_tool",
    happened: removed("a.txt"),
  },
  {
    id: "seed 003 §5 missing",
    name: "a command nobody confirmed",
    ...run("echo new > made.txt"),
    check: ["commands"],
    refusal: "nobody_to_ask",
    happened: wrote("made.txt"),
  },
  {
    id: "seed 003 §9 secrets",
    name: "a secret in an output",
    files: { "a.txt": `token ${secret}\n` },
    tool: "Read",
    args: { file_path: "a.txt" },
    refusal: "",
    happened: said(secret),
    check: async () => ({ redactor: await createRedactor() }),
  },
  {
    id: "seed 003 §10 before",
    name: "what the license does not permit",
    ...write("a.txt"),
    arrange: (world) => {
      world.licensed = false;
    },
    check: ["limits"],
    refusal: "capability_denied",
    happened: wrote("a.txt"),
  },
  {
    id: "seed 003 §12 scope",
    name: "a file outside the workspace",
    ...run("cat /etc/passwd"),
    check: ["containment"],
    refusal: "nobody_to_ask",
    happened: said("root:"),
  },
  {
    id: "seed 003 §12 post-stop",
    name: "a call after the stop",
    ...write("a.txt"),
    arrange: (world) => {
      world.emergency = { ...noEmergency, stopAll: true };
    },
    check: ["limits"],
    refusal: "stopped",
    happened: wrote("a.txt"),
  },
  {
    id: "seed 003 §13 read-only",
    name: "a change in read-only mode",
    ...write("a.txt"),
    arrange: (world) => {
      world.emergency = { ...noEmergency, readOnly: true };
    },
    check: ["limits"],
    refusal: "read_only_mode",
    happened: wrote("a.txt"),
  },
  {
    id: "seed 003 §13 high-impact",
    name: "high impact that was confirmed",
    ...write(".github/workflows/ci.yml"),
    arrange: (world) => {
      world.emergency = { ...noEmergency, disableHighImpact: true };
      world.answer = { type: "yes", scope: "once", by: "ann" };
    },
    check: ["limits"],
    refusal: "high_impact_disabled",
    happened: wrote(".github/workflows/ci.yml"),
  },
  {
    id: "seed 003 §13 deploy",
    name: "a deployment that was confirmed",
    ...run("true || npm publish; echo new > made.txt"),
    arrange: (world) => {
      world.emergency = { ...noEmergency, blockedTools: ["deploy"] };
      world.answer = { type: "yes", scope: "once", by: "ann" };
    },
    check: ["limits"],
    refusal: "tool_blocked",
    happened: wrote("made.txt"),
  },
  {
    id: "seed 004 §3A patterns",
    name: "a command that a pattern names",
    ...run("echo new > made.txt"),
    files: rules("bashToolPatterns: [{pattern: 'made\\.txt', reason: not this}]\n"),
    arrange: (world) => {
      world.answer = { type: "yes", scope: "once", by: "ann" };
    },
    check: ["rules"],
    refusal: "rule_violation",
    happened: wrote("made.txt"),
  },
  {
    id: "seed 004 §3B zero",
    name: "reading a zero-access path",
    tool: "Read",
    args: { file_path: "vault.txt" },
    files: { ...rules("zeroAccessPaths: [vault.txt]\n"), "vault.txt": "hidden\n" },
    check: ["rules"],
    refusal: "rule_violation",
    happened: said("hidden"),
  },
  {
    id: "seed 004 §3B glob",
    name: "a search whose glob names one",
    tool: "Grep",
    files: { ...rules("zeroAccessPaths: [vault.txt]\n"), "vault.txt": "hidden\n" },
    args: { pattern: "hid", glob: "vault.*", output_mode: "content" },
    check: ["rules"],
    refusal: "rule_violation",
    happened: said("hidden"),
  },
  {
    id: "seed 004 §3B read-only",
    name: "writing a read-only path",
    ...write("dist/a.js"),
    files: rules("readOnlyPaths: [dist/]\n"),
    check: ["rules"],
    refusal: "rule_violation",
    happened: wrote("dist/a.js"),
  },
  {
    id: "seed 004 §3B no-delete",
    name: "deleting a path that must stay",
    tool: "Delete",
    args: { file_path: "a.txt" },
    arrange: (world) => read(world, "a.txt"),
    files: { ...rules("noDeletePaths: [a.txt]\n"), "a.txt": "old\n" },
    check: ["rules"],
    refusal: "rule_violation",
    happened: removed("a.txt"),
  },
  {
    id: "seed 004 §6 fallback",
    name: "a change while the rules cannot be read",
    files: rules("- [\n"),
    ...write("a.txt"),
    check: ["rules"],
    refusal: "rules_invalid",
    happened: wrote("a.txt"),
  },
];

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe("each check is what refuses", () => {
  test.each(rows)("$id: $name", async (row) => {
    const governed = await play(row, "with");
    expect(governed.result.error?.code ?? "").toBe(row.refusal);
    expect(row.happened(governed.world, governed.result)).toBe(false);

    const ungoverned = await play(row, "without");
    expect(ungoverned.result.error).toBeUndefined();
    expect(row.happened(ungoverned.world, ungoverned.result)).toBe(true);
  });
});

/** The row's call through the gate, with its check or without it, each in a world of its own. */
async function play(
  row: Row,
  how: "with" | "without",
): Promise<{ readonly world: World; readonly result: CallResult }> {
  const world = newWorld(row.files ?? {});
  await row.arrange?.(world);
  const options = await gateOptions(world, row.check, how);
  const call = { id: "call", name: row.tool, argumentsJson: JSON.stringify(row.args) };
  const { signal } = new AbortController();
  const [result] = await governTools(options).run([call], { turnId: "turn-1", signal });
  if (result === undefined) throw new Error("The gate gave no result.");
  return { world, result };
}

function newWorld(files: Readonly<Record<string, string>>): World {
  const bench = new ToolBench();
  open.push(() => {
    bench[Symbol.dispose]();
  });
  bench.file(".git/HEAD", "ref: refs/heads/work\n");
  for (const [path, text] of Object.entries(files)) bench.file(path, text);
  return { bench, emergency: noEmergency, licensed: true, activeIntent: undefined, answer: { type: "nobody" } };
}

async function gateOptions(world: World, check: Row["check"], how: "with" | "without"): Promise<GateOptions> {
  const { bench } = world;
  const home = `${bench.root}-home`;
  const damageControl = await RulesService.open({ root: bench.root, home, onChange: () => {} });
  open.push(() => damageControl[Symbol.asyncDispose]());
  const service = IntentsService.open({ workspace: bench.workspace, stateDir: home });
  open.push(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const all = turnPolicies({
    workspace: bench.workspace,
    syncControl: async () => {},
    editingMode: "branch",
    sessionBranch: "work",
    isZeroAccess: () => false,
    second: "unavailable",
    protectedBranches: [],
    config: { allowPaths: undefined, denyPaths: [], protectedBranches: [], check: undefined },
    branchOffer: undefined,
    claimTree: () => ({ type: "ours" }),
    limits: {
      current: () => [
        switchesLimit(world.emergency),
        ...(world.licensed ? [] : [leastPrivilege("there is no license", { name: "none", holder: "user", file: "" })]),
      ],
    },
    limitsSha256: "",
    ownDirectories: [home],
    rules: { current: () => damageControl.current(), slow: damageControl.slow },
    gitContents: gitContentsGuard(() => damageControl.current()),
    intentRules: () => service.rules(world.activeIntent),
    hookPolicies: [],
  });
  const named = typeof check === "function" ? [] : check;
  expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining([...named]));
  const isLeftOut = (name: string): boolean => how === "without" && named.includes(name);
  bench.activeIntent = world.activeIntent;
  const without: GateOptions = gateWith({
    tools: bench.tools,
    policies: all.filter(({ name }) => !isLeftOut(name)),
    ...(isLeftOut("limits")
      ? {}
      : {
          standingCheck: {
            check: (input) => emergencyVerdict(world.emergency, input),
            onChange: () => ({ [Symbol.dispose]: () => undefined }),
          },
        }),
    confirmer: { ask: async () => world.answer },
    journal: {
      ...silentJournal,
      end: async () => undefined,
      warn: (text) => {
        throw new Error(text);
      },
    },
    policyTimeoutMs: 5_000,
    now: Date.now,
  });
  return typeof check === "function" && how === "with" ? { ...without, ...(await check(without)) } : without;
}
