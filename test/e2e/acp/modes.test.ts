import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { saidIn } from "./acp-editor.ts";
import { servedEditor } from "./served-editor.ts";

const files = { "src/a.ts": "const colour = 1;\n", "src/b.ts": "// colour\n" };
const replace = "replace colour with color in src/**/*.ts";
const write = call("Write", { file_path: "made.txt", content: "made\n" });

const steps = (editor: Awaited<ReturnType<typeof servedEditor>>) =>
  editor.updates.flatMap((update) =>
    update.sessionUpdate === "plan" ? [update.entries.map(({ status }) => status)] : [],
  );

test("a plan is shown with all its actions, and runs after a yes to it alone", async () => {
  let before = "";
  await using editor = await servedEditor({
    files,
    choose: async () => {
      before = await editor.server.workspace.read("src/a.ts");
      return "run";
    },
  });
  expect(editor.session.modes?.availableModes.map(({ id }) => id)).toEqual(["branch", "proposal", "plan", "read-only"]);
  await editor.set("mode", "plan");
  expect(await editor.prompt(replace)).toEqual({ stopReason: "end_turn" });
  expect(before).toBe(files["src/a.ts"]);
  expect(editor.questions).toHaveLength(1);
  const [question] = editor.questions;
  expect(question?.options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
  const shown = JSON.stringify(question?.toolCall.content);
  expect(shown).toContain("-const colour = 1;\\n+const color = 1;");
  expect(shown).toMatch(/SHA-256 `[0-9a-f]{64}`/);
  expect(await editor.server.workspace.read("src/a.ts")).toBe("const color = 1;\n");
  expect(await editor.server.workspace.read("src/b.ts")).toBe("// color\n");
  expect(steps(editor).at(0)).toContain("pending");
  expect(
    steps(editor)
      .at(-1)
      ?.every((status) => status === "completed"),
  ).toBe(true);
  expect(saidIn(editor.updates)).toMatch(/The plan is executed, (?:not )?verified\./);
  // The envelope itself is the server's.
  expect(saidIn(editor.updates)).not.toContain('"kind"');
});

test("without a yes nothing of a plan runs, and it stays", async () => {
  await using editor = await servedEditor({ files, choose: () => "leave" });
  await editor.set("mode", "plan");
  await editor.prompt(replace);
  expect(saidIn(editor.updates)).toMatch(/Nothing was run\. The plan stays: `gennai plan approve /);
  expect(await editor.server.workspace.read("src/a.ts")).toBe(files["src/a.ts"]);
});

test("what is not a plan is said to be none", async () => {
  await using editor = await servedEditor({ files, steps: [{ text: ["I will just do it."] }] });
  await editor.set("mode", "plan");
  await editor.prompt("do it");
  expect(saidIn(editor.updates)).toMatch(/That is not a plan that can be approved:|I will just do it\./);
  expect(editor.questions).toEqual([]);
});

test("in Read-only nothing is changed or kept, also by a scenario of the project's own, and no command leads out of it", async () => {
  const respond = "RESPOND:\n  tools: [default, Write, Bash, ProposeChanges]\n  prompt: Write whatever you like.\n";
  const propose = call("ProposeChanges", {
    changes: [{ path: "made.txt", operation: "create", new_content: "made\n" }],
  });
  await using editor = await servedEditor({
    files: { ...files, ".gennai/scenarios/respond.yaml": respond },
    script: [{ match: "write", steps: [write, bash("touch made.txt"), propose, { text: ["Done."] }] }],
    choose: ({ options }) => options.find(({ kind }) => kind === "allow_once")?.optionId,
  });
  const { configOptions } = await editor.set("mode", "read-only");
  expect(configOptions[0]).toMatchObject({ id: "mode", currentValue: "read-only" });
  for (const prompt of ["write it", "/code write it", "/again"]) await editor.prompt(prompt);
  expect(saidIn(editor.updates)).toContain("The mode Read-only cannot change its scenario. Choose another mode first.");
  await expect(editor.server.workspace.read("made.txt")).rejects.toThrow("ENOENT");
  expect(editor.questions.map(({ toolCall }) => toolCall.title)).not.toContainEqual(
    expect.stringContaining("Write the proposed changes"),
  );
  // Elsewhere the same prompt writes.
  await editor.set("mode", "branch");
  await editor.prompt("write it");
  expect(await editor.server.workspace.read("made.txt")).toBe("made\n");
});
