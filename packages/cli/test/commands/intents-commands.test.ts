import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../test-console.ts";

let directory: string;
let workspace: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "cli-intents-")));
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "cli-intents-ws-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
  rmSync(workspace, { recursive: true, force: true });
});

async function gennai(...args: readonly string[]) {
  const console = testConsole(workspace, { GENNAI_STATE_DIR: join(directory, "state") });
  const code = await runCommandLine(["intents", ...args], console);
  return { code, output: console.printed(), errors: console.complained() };
}

const file = () => join(workspace, ".orchestration/active_intents.yaml");

describe("gennai intents", () => {
  it("makes a first file, once, with nothing in it that can be selected", async () => {
    expect(await gennai("list")).toMatchObject({
      code: 0,
      output: expect.stringContaining("Intents are off here (auto)."),
    });
    expect(await gennai("init")).toMatchObject({
      code: 0,
      output: expect.stringContaining("Made .orchestration/active_intents.yaml"),
    });
    expect(await gennai("list")).toMatchObject({
      code: 0,
      output: expect.stringMatching(/INT-001 {2}draft[\s\S]*Intents are on here \(auto\)/),
    });
    const listed = await gennai("list", "--json");
    expect(JSON.parse(listed.output)).toMatchObject({
      on: true,
      problems: [],
      intents: [{ id: "INT-001", selectable: false }],
    });
    writeFileSync(file(), readFileSync(file(), "utf8").replace("draft", "active"));
    expect(await gennai("init")).toMatchObject({ code: 2, errors: expect.stringContaining("is there already") });
    expect(readFileSync(file(), "utf8")).toContain("status: active");
  });

  it.each([
    {
      name: "no file",
      text: undefined,
      mode: "auto",
      said: "The agent may work on anything that the rules allow. To say what it may work on: gennai intents init",
    },
    {
      name: "no file, switched off",
      text: undefined,
      mode: "off",
      said: "To say what it may work on: gennai intents mode auto, then gennai intents init",
    },
    { name: "no file, required", text: undefined, mode: "required", said: "make one (gennai intents init)" },
    {
      name: "a file without intents",
      text: "active_intents: []\n",
      mode: "auto",
      said: "It has no intent, so the agent can change nothing here. In .orchestration/active_intents.yaml, set",
    },
    {
      name: "none active",
      text: "active_intents:\n  - id: A\n    name: a\n    status: draft\n    owned_scope: [src]\n",
      mode: "auto",
      said: "None of these intents is active, so the agent can change nothing here. In",
    },
    {
      name: "one active",
      text: "active_intents:\n  - id: A\n    name: a\n    status: active\n    owned_scope: [src]\n",
      mode: "auto",
      said: undefined,
    },
  ])("says what to do where nothing can be selected: $name", async ({ text, mode, said }) => {
    if (text !== undefined) {
      mkdirSync(dirname(file()), { recursive: true });
      writeFileSync(file(), text);
    }
    await gennai("mode", mode);
    const { output } = await gennai("list");
    if (said === undefined) expect(output).not.toMatch(/The agent may work|so the agent can change nothing|init/);
    else expect(output).toContain(said);
  });

  it("shows one", async () => {
    await gennai("init");
    expect(await gennai("show", "INT-001")).toMatchObject({
      code: 0,
      output: expect.stringContaining("status  draft (cannot be selected)\n  owned scope\n    - src/**\n"),
    });
    expect(await gennai("show", "INT-9")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("There are: INT-001."),
    });
  });

  it("says what is wrong with the file, and fails", async () => {
    await gennai("init");
    writeFileSync(file(), readFileSync(file(), "utf8").replace('"src/**"', '"../x"'));
    expect(await gennai("list")).toMatchObject({
      code: 1,
      output: expect.stringMatching(/active_intents\.yaml:9: INT-001: "\.\.\/x" contains/),
    });
  });

  it("seed 001 opt-in: per workspace: a person's choice, kept outside the workspace", async () => {
    expect(await gennai("mode")).toMatchObject({ output: expect.stringContaining("off here (auto)") });
    expect(await gennai("mode", "required")).toMatchObject({
      code: 0,
      output: expect.stringContaining("on here (required)"),
    });
    expect(await gennai("mode")).toMatchObject({ output: expect.stringContaining("on here (required)") });
    expect(existsSync(join(workspace, ".orchestration"))).toBe(false);
    expect(await gennai("mode", "never")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("auto, required, off"),
    });
  });
});
