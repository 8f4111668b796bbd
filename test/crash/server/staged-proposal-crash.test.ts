import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@gennai/client/connection/connection";
import { EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { HunkDecision, type InvokeEvent, type ProposedChanges } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { untilNobodySeesBelow } from "../../effects/look/sees-below.ts";
import { differences, treeState } from "../../effects/look/tree-state.ts";
import { crashOptions, randomNumbers } from "../crash-options.ts";
import { EffectCounts } from "../effect-counts.ts";
import { killProcess } from "../kill-process.ts";
import { type ServingChild, servingChild, token } from "./serving-child.ts";

const options = crashOptions(2);
const random = randomNumbers(options.seed);

const kept = Array.from({ length: 30 }, (_none, index) => `kept/${index}.txt`);

/** What the model does, by what it is asked. */
const turns = [
  {
    match: "^stage",
    steps: [
      call("Write", { file_path: "tool.txt", content: "by a tool\n" }),
      bash("for i in $(seq 0 29); do echo $RANDOM > kept/$i.txt; done; echo refused > refused.txt"),
      { text: ["Staged."] },
    ],
  },
  { match: "^hang", steps: [bash("echo half > half.txt; rm tool.txt; echo begun; sleep 600"), { text: ["Never."] }] },
  { match: "^look", steps: [bash("cat tool.txt; ls; git status --porcelain"), { text: ["Looked."] }] },
];

test("a server that is killed leaves the workspace as before or as after, and what was staged", async () => {
  await using state = await temporaryDirectory();
  await using scripts = await temporaryDirectory();
  const files = Object.fromEntries([...kept.map((name) => [name, "old\n"]), [".gitignore", ".orchestration\n"]]);
  await using workspace = await temporaryRepository(files);
  await workspace.git("checkout", "--quiet", "-b", "work");
  const script = scripts.path("script.yaml");
  await writeFile(script, JSON.stringify({ turns }));
  let serving = await startChild(0);
  const client = connect({ baseUrl: `http://127.0.0.1:${serving.port}`, token });
  const { sessionId } = await client.startSession({ settings: { editingMode: EditingMode.PROPOSAL } });
  const asked = async (userInput: string): Promise<InvokeEvent[]> =>
    Array.fromAsync(client.invoke({ sessionId, userInput }));
  const proposalOf = (events: readonly InvokeEvent[]): ProposedChanges | undefined =>
    events.flatMap(({ event }) => (event.case === "proposedChanges" ? [event.value] : []))[0];
  const resultOf = (events: readonly InvokeEvent[]): string =>
    events.flatMap(({ event }) => (event.case === "toolResult" ? [event.value.output] : [])).join("");

  const effects = new EffectCounts();
  for (let round = 0; round < options.rounds; round++) {
    const before = treeState(workspace.root);
    const proposal = proposalOf(await asked("stage"));
    expect(proposal?.changes).toHaveLength(kept.length + 2);
    expect(differences(before, treeState(workspace.root))).toEqual([]);

    // In the middle of a command that had begun to change what is staged.
    await untilBegun();
    await killProcess(serving.child);
    await untilNobodySeesBelow(state.root);
    serving = await startChild(serving.port);
    expect(differences(before, treeState(workspace.root))).toEqual([]);
    const looked = await asked("look");
    expect(resultOf(looked)).toContain("by a tool\n");
    expect(resultOf(looked)).toContain("refused.txt");
    expect(resultOf(looked)).not.toContain("half.txt");
    expect(proposalOf(looked)).toBeUndefined();

    // In the middle of a keep; every second one when it was told that all is written.
    const keep = {
      sessionId,
      proposalId: proposal?.proposalId ?? "",
      hunks: (proposal?.changes ?? []).flatMap(({ id: changeId, path, hunks }) =>
        hunks.map(({ id: hunkId }) => ({
          changeId,
          hunkId,
          decision: path.startsWith("kept/") ? HunkDecision.KEEP : HunkDecision.UNDO,
        })),
      ),
    };
    const keeping = client.applyProposal(keep);
    keeping.catch(() => undefined);
    const toItsEnd = round % 2 === 0;
    if (toItsEnd) await keeping;
    else await delay(random() * 60);
    await killProcess(serving.child);
    await keeping.catch(() => undefined);
    serving = await startChild(serving.port);
    // Asked again, the server finishes what it had begun.
    effects.want("keeping");
    const { files: written } = await client.applyProposal(keep);
    effects.add("keeping", written.length === kept.length ? 1 : 0);
    const now = await Promise.all(kept.map((name) => workspace.read(name)));
    const wanted = new Map(proposal?.changes.map(({ path, newContent }) => [path, newContent]));
    expect(now).toEqual(kept.map((name) => wanted.get(name)));
    for (const name of ["tool.txt", "refused.txt", "half.txt"]) expect(existsSync(workspace.path(name))).toBe(false);
    const after = await asked("look");
    expect(resultOf(after)).not.toMatch(/refused\.txt|half\.txt|\?\? tool\.txt/);
    expect(proposalOf(after)).toBeUndefined();
    await workspace.git("commit", "--quiet", "--all", "--message", `round ${round}`);
  }
  effects.expectAll();
  const ended = once(serving.child, "exit");
  serving.child.kill("SIGTERM");
  await ended;
  const [place = ""] = readdirSync(join(state.root, "proposals"));
  expect(readdirSync(join(state.root, "proposals", place, "contents"))).toEqual([]);
  const report = await verifyWorkspaceLedger({ workspaceRoot: workspace.root, stateDir: state.root });
  expect(report).toMatchObject({ status: "ok", compared: { head: true, store: true } });

  /** Resolves when the command of a turn that never ends has printed something. */
  async function untilBegun(): Promise<void> {
    for await (const { event } of client.invoke({ sessionId, userInput: "hang" })) {
      if (event.case === "toolOutputDelta" && event.value.text.includes("begun")) return;
    }
    throw new Error("The command ended.");
  }

  async function startChild(port: number): Promise<ServingChild> {
    const place = { stateDir: state.root, workspace: workspace.root, script, commands: "staged" } as const;
    const started = await servingChild({ port, ...place });
    onTestFinished(() => void started.child.kill("SIGKILL"));
    return started;
  }
});
