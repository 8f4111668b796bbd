import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { IntentsService } from "@gennai/sessions/intents/intents-service";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import { loadScenarios } from "@gennai/sessions/prompt/load-scenarios";
import { commandFixture } from "../../command-fixture.ts";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";

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
