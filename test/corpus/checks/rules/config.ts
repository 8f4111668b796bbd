import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { IntentsService } from "@gennai/sessions/intents/intents-service";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import { loadScenarios } from "@gennai/sessions/scenarios/load-scenarios";
import { type CommandFixture, commandFixture } from "../../command-fixture.ts";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";
import { callTool } from "../../tool-call.ts";

const rulesFile = ".gennai/rules.yaml";

/** A file of rules that is refused, by name: nothing may be changed, and the floor holds. */
const refused = (text: string | Uint8Array, problem: RegExp) =>
  check(async () => {
    await using fixture = await commandFixture("apart", { files: { [rulesFile]: text } });
    await assertRefused(fixture, problem);
  });

async function assertRefused(fixture: CommandFixture, problem: RegExp): Promise<void> {
  assert.match(fixture.workbench.status.problems.join("\n"), problem);
  assert.equal((await fixture.decide("touch src/new.ts")).verdict, "deny");
  assert.equal((await fixture.decide("rm -rf src")).verdict, "deny");
}

/** Rules that are accepted; each command has its verdict. */
const accepted = (text: string, rows: Readonly<Record<string, "allow" | "ask" | "deny">>) =>
  check(async () => {
    await using fixture = await commandFixture("apart", { files: { [rulesFile]: text } });
    for (const [command, wanted] of Object.entries(rows))
      assert.equal((await fixture.decide(command)).verdict, wanted, command);
  });

/** An intent that cannot be selected. */
async function notSelectable(intents: string, id: string, message?: string): Promise<void> {
  await using fixture = await commandFixture("apart", { files: { ".orchestration/active_intents.yaml": intents } });
  const stateDir = join(fixture.home, "state");
  const workspace = openLocalWorkspace(fixture.root, { stateDir, home: fixture.home });
  await assert.rejects(IntentsService.open({ workspace, stateDir }).selectable(id), (error: unknown) => {
    assert.ok(error instanceof ToolFailure);
    if (message !== undefined) assert.match(error.message, new RegExp(message));
    return true;
  });
}

function intent(id: string, status: string): string {
  return `  - {id: ${JSON.stringify(id)}, name: n, status: ${status}, owned_scope: ["src/**"]}\n`;
}

const editor = notApplicable(
  "Settings and addresses of the editor are read by its extension, whose own tests hold it.",
);

export const configChecks: Checks = {
  "CFG-005": refused("readOnlyPaths: []\nreadOnlyPaths: []\n", /:2: .*unique/),
  "CFG-006": check(async () => {
    for (const text of ["__proto__: {a: 1}\n", "constructor: {a: 1}\n"]) {
      await using fixture = await commandFixture("apart", { files: { [rulesFile]: text } });
      await assertRefused(fixture, /__proto__|constructor/);
    }
  }),
  "CFG-008": refused("readOnlyPaths: []\n---\nreadOnlyPaths: []\n", /rules\.yaml:/),
  "CFG-009": refused("zeroAccesPaths: [.env]\n", /zeroAccesPaths: .*did you mean/),
  "CFG-011": check(async () => {
    for (const pattern of ["", ".*"]) {
      const rules = `bashToolPatterns:\n  - {pattern: '${pattern}', reason: all}\n`;
      await using fixture = await commandFixture("apart", { files: { [rulesFile]: rules } });
      assert.match(fixture.workbench.status.problems.join("\n"), /rules\.yaml:2: /);
    }
  }),
  // A pattern that takes exponential time elsewhere takes linear time here, so it need not be refused.
  "CFG-012": check(async () => {
    await using fixture = await commandFixture("apart", {
      files: { [rulesFile]: "bashToolPatterns:\n  - {pattern: '(a+)+$', reason: slow}\n" },
    });
    const started = performance.now();
    assert.notEqual((await fixture.decide(`echo ${"a".repeat(20_000)}b`)).verdict, "deny");
    assert.ok(performance.now() - started < 2_000);
  }),
  "CFG-014": accepted("bashToolPatterns:\n  - {pattern: '\\bprüfe\\b', reason: non-ASCII}\n", {
    "echo prüfe": "deny",
    "echo pruefe": "allow",
  }),
  "CFG-017": check(async () => {
    await using fixture = await commandFixture("apart", {
      prepare: ({ root, home }) => {
        writeFileSync(join(home, "elsewhere.yaml"), "readOnlyPaths: []\n");
        rmSync(join(root, rulesFile));
        symlinkSync(join(home, "elsewhere.yaml"), join(root, rulesFile));
      },
    });
    await assertRefused(fixture, /rules\.yaml:1: /);
  }),
  "CFG-018": check(async () => {
    await using fixture = await commandFixture("apart", {
      files: { "~/.config/gennai/rules.yaml": "readOnlyPaths: []\n" },
      prepare: ({ home }) => chmodSync(join(home, ".config/gennai/rules.yaml"), 0o666),
    });
    await assertRefused(fixture, /rules\.yaml:1: /);
  }),
  "CFG-019": check(async () => {
    for (const bytes of [new Uint8Array([0x61, 0xff]), new Uint8Array([0xff, 0xfe, 0x61, 0x00])]) {
      await using fixture = await commandFixture("apart", { files: { [rulesFile]: bytes } });
      await assertRefused(fixture, /UTF-8/);
    }
    await using marked = await commandFixture("apart", { files: { [rulesFile]: "\ufeffreadOnlyPaths: [docs/]\n" } });
    assert.deepEqual(marked.workbench.status.problems, []);
    assert.equal((await marked.decide("touch docs/x")).verdict, "deny");
  }),
  "CFG-021": check(async () => {
    const rules = 'zeroAccessPaths: ["~/kept", "$HOME/also", "%USERPROFILE%/third"]\n';
    await using fixture = await commandFixture("apart", { files: { [rulesFile]: rules } });
    assert.equal((await fixture.decide("cat $HOME/kept")).rule, "rules/project/zeroAccessPaths/1");
    // Another variable than the home is said to be none, instead of protecting nothing in silence.
    const home = (await fixture.decide("cat $HOME/also")).verdict === "deny";
    const problems = fixture.workbench.status.problems.join("\n");
    assert.ok(home || problems.includes("HOME"), problems);
    assert.match(problems, /USERPROFILE/);
  }),
  "CFG-022": accepted("readOnlyPaths: ['docs\\sub\\']\n", { "touch docs/sub/x": "deny" }),
  "CFG-024": check(async () => {
    await using fixture = await commandFixture();
    const before = await fixture.workbench.rules.current();
    const digest = before.sha256;
    writeFileSync(join(fixture.root, rulesFile), "readOnlyPaths: [docs/]\n");
    const after = await fixture.workbench.rules.current();
    assert.notEqual(after.sha256, digest);
    assert.equal(before.sha256, digest);
  }),
  "CFG-025": check(async () => {
    const called = await callTool(
      "Bash",
      { command: "touch made" },
      {
        whileAsked: async ({ workspace }) => {
          mkdirSync(workspace.path(".gennai"), { recursive: true });
          await workspace.write(rulesFile, "bashToolPatterns:\n  - {pattern: 'touch', reason: no touch}\n");
        },
      },
    );
    assert.notEqual(called.code, "ok");
  }),
  "CFG-028": editor,
  "CFG-029": notApplicable("No setting of a workspace turns rules or hooks off: the key does not exist."),
  "CFG-031": editor,
  // Where nobody asked for intents, those of a repository only narrow. Where they are required, they are what permits: there
  // they wait for the person, and any change waits again.
  "CFG-032": check(async () => {
    const file = ".orchestration/active_intents.yaml";
    const text = 'active_intents:\n  - {id: INT-001, name: n, status: active, owned_scope: ["**"]}\n';
    await using fixture = await commandFixture("apart", { files: { [file]: text } });
    const stateDir = join(fixture.home, "state");
    const workspace = openLocalWorkspace(fixture.root, { stateDir, home: fixture.home });
    const service = IntentsService.open({ workspace, stateDir, defaultMode: "required" });
    await assert.rejects(service.selectable("INT-001"), ToolFailure);
    assert.match((await service.status()).problems.join(), /its present text is not accepted/);
    await service.accept({ record: async () => {} });
    assert.equal((await service.selectable("INT-001")).id, "INT-001");
    writeFileSync(join(fixture.root, file), text.replace("name: n", "name: other"));
    await assert.rejects(service.selectable("INT-001"), ToolFailure);

    await using plain = await commandFixture("apart");
    await using narrowed = await PolicyWorkbench.open({
      workspace: fixture.root,
      stateDir,
      home: fixture.home,
      intent: "INT-001",
    });
    const strictness = { allow: 0, ask: 1, deny: 2 };
    for (const command of ["npm test", "rm src/main.ts", "rm -rf /", "cat .env", "echo x > .git/config", "git push"]) {
      const without = (await plain.decide(command)).verdict;
      const { verdict } = await narrowed.decide("Bash", { command });
      assert.ok(strictness[verdict] >= strictness[without], `${command}: ${without} became ${verdict}`);
    }
  }),
  "CFG-033": check(() =>
    notSelectable(`active_intents:\n${intent("INT-001", "active")}${intent("INT-001", "active")}`, "INT-001"),
  ),
  "CFG-034": check(async () => {
    for (const status of ["done", "unheard-of", "''"])
      await notSelectable(
        `active_intents:\n${intent("INT-001", status)}`,
        "INT-001",
        "You must cite a valid active Intent ID",
      );
  }),
  "CFG-035": check(() => notSelectable(`active_intents:\n${intent("../../x", "active")}`, "../../x")),
  "CFG-037": check(async () => {
    await using fixture = await commandFixture("apart", {
      files: {
        ".gennai/scenarios/editor_code.yaml": "EDITOR_CODE:\n  tools: [Read, Write, Edit, Bash]\n  prompt: Write.\n",
      },
    });
    const { scenarios } = await loadScenarios(fixture.root);
    const tools = [...(scenarios.get("EDITOR_CODE")?.tools ?? [])];
    for (const name of ["Write", "Edit", "Bash"]) assert.equal(tools.includes(name), false, name);
  }),
  "CFG-038": editor,
};
