import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { cliScene } from "../../cli-scene.ts";

const intents = `active_intents:
  - {id: INT-001, name: Colours, status: active, owned_scope: ["src/**"]}
  - {id: INT-002, name: Docs, status: active, owned_scope: ["docs/**"]}
  - {id: INT-003, name: Old, status: completed, owned_scope: ["src/**"]}
`;
const files = { "src/a.txt": "colour\n", ".orchestration/active_intents.yaml": intents };
const replace = "replace colour with color in src/a.txt";

test("--intent: the turn works under it, the opening line says so, and the ledger has it", async () => {
  await using here = await cliScene(files);
  const { code, out, err } = await here.run("run", "--intent", "INT-001", replace);
  expect({ code, out }).toEqual({ code: 0, out: "Changed src/a.txt.\n" });
  expect(err.split("\n")[0]).toBe("intent INT-001: Colours");
  expect(await here.repository.read("src/a.txt")).toBe("color\n");
  expect((await here.run("undo")).code).toBe(0);
  const ledger = (await here.run("ledger", "show")).out;
  expect(ledger).toMatch(/session\s+intent INT-001/);
  expect(ledger).toMatch(/undo\s+change set \S+, src\/a\.txt/);
});

test.each([
  ["one that is not there", "INT-9", 'There is no intent "INT-9".'],
  ["one that is finished", "INT-003", "The intent INT-003 cannot be selected: its status is completed."],
])("--intent: %s is refused before anything happens", async (_, id, message) => {
  await using here = await cliScene(files);
  const { code, err } = await here.run("run", "--intent", id, replace);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(err).toContain("These can be selected: INT-001: Colours; INT-002: Docs");
  expect(await here.repository.git("branch", "--show-current")).toBe("main");
  expect(await here.repository.read("src/a.txt")).toBe("colour\n");
});

test("without --intent, several to choose from are listed and nothing is changed", async () => {
  await using here = await cliScene(files);
  const { code, out } = await here.run("run", replace);
  expect(code).toBe(3);
  expect(out).toContain("There are several: INT-001, INT-002.");
  expect(await here.repository.read("src/a.txt")).toBe("colour\n");
});

test("the prompt lists, selects and shows intents", async () => {
  await using here = await cliScene(files);
  const console = here.console();
  console.input.end("/intent INT-9\n/intent INT-002\n/intent\n/exit\n");
  expect(await runCommandLine(["run"], console)).toBe(0);
  const printed = console.printed();
  expect(printed).toContain("cite a valid active Intent ID");
  expect(printed).toContain("Intent INT-002 Docs");
  expect(printed).toContain(
    "- INT-001 Colours (active)\n▸ INT-002 Docs (active)\n- INT-003 Old (completed, not selectable)",
  );
});

test("a session that is gone on with says what it works under", async () => {
  await using here = await cliScene(files);
  const { out } = await here.run("run", "--json", "--intent", "INT-001", "show src/a.txt");
  const { result } = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "{}") as {
    result: { sessionId: string; intent: string };
  };
  expect(result.intent).toBe("INT-001");
  const again = await here.run("run", "--resume", result.sessionId, "show src/a.txt");
  expect(again.err.split("\n")[0]).toContain("intent INT-001: Colours");
});

test("a stop of all work tells how a person lifts it", async () => {
  await using here = await cliScene(files);
  expect((await here.run("emergency", "stop-all", "on", "--reason", "a drill")).code).toBe(0);
  const { code, err } = await here.run("run", "show src/a.txt");
  expect(code).toBe(1);
  expect(err).toContain("All work is stopped by an emergency control");
  expect(err).toContain("gennai emergency stop-all off --reason");
  expect(err).not.toContain("Correct what it names");
});

test("a review of a proposal stands in the ledger as what was decided", async () => {
  await using here = await cliScene({ "a.txt": "colour\n", "b.txt": "colour\n" });
  const args = ["--mode", "proposal", "--refuse", "b.txt", "replace colour with color in *.txt"];
  expect((await here.run("run", ...args)).code).toBe(0);
  const { out } = await here.run("ledger", "show");
  expect(out).toMatch(/review\s+proposal \S+: 1 kept, 1 refused/);
  expect(out).toMatch(/applied\s+proposal \S+, a\.txt/);
});
