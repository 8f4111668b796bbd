import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

async function project() {
  const directory = await temporaryDirectory();
  const root = join(directory.root, "app");
  const environment = { HOME: join(directory.root, "home"), GENNAI_STATE_DIR: join(directory.root, "state") };
  for (const path of [root, environment.HOME]) mkdirSync(path);
  const settings = join(root, ".claude/settings.local.json");
  const run = async (command: string, input = "", more: NodeJS.ProcessEnv = {}) => {
    const console = testConsole(root, { ...environment, ...more });
    console.input.end(input);
    const code = await runCommandLine(command.split(" "), console);
    return { code, printed: console.printed(), complained: console.complained() };
  };
  return {
    ...directory,
    root,
    environment,
    settings,
    run,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

const settingsSchema = z.looseObject({
  hooks: z
    .record(z.string(), z.array(z.looseObject({ hooks: z.array(z.looseObject({ command: z.string() })) })))
    .default({}),
});
const statusSchema = z.object({ agents: z.array(z.object({ installed: z.array(z.string()) })) });
const settingsIn = (path: string) => settingsSchema.parse(JSON.parse(readFileSync(path, "utf8")));
const hooksIn = (path: string) => settingsIn(path).hooks;

describe("install and uninstall", () => {
  test("there was nothing: then a hook for each event, once however often it is installed, and nothing again", async () => {
    await using place = await project();
    const { run, settings, root } = place;
    expect(await run("guard install claude-code")).toMatchObject({
      code: 0,
      printed: expect.stringContaining("Installed in"),
    });
    const written = readFileSync(settings, "utf8");
    expect(Object.keys(hooksIn(settings))).toEqual([
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "Stop",
      "SessionEnd",
    ]);
    // Claude Code goes on after any other exit code than 0 and 2.
    expect(hooksIn(settings)["PreToolUse"]).toEqual([
      {
        matcher: "*",
        hooks: [
          { type: "command", command: expect.stringMatching(/guard hook claude-code \|\| exit 2$/), timeout: 60 },
        ],
      },
    ]);
    const state = place.environment.GENNAI_STATE_DIR;
    for (const [event, [group]] of Object.entries(hooksIn(settings))) {
      const command = group?.hooks[0]?.command ?? "";
      const relay = `PERL5OPT= PERL5LIB= GENNAI_STATE_DIR='${state}' GENNAI_GUARD_PROJECT= '/usr/bin/perl' '${state}/guard/relay' '`;
      expect(command.startsWith(`NODE_OPTIONS= ${relay}`)).toBe(true);
      // At Stop, 2 would mean that it must go on.
      expect([event, command.slice(-1)]).toEqual([event, event === "PreToolUse" ? "2" : "1"]);
    }
    expect((await run("guard install claude-code")).printed).toContain("In place already");
    expect(readFileSync(settings, "utf8")).toBe(written);
    expect(await run("guard uninstall claude-code")).toMatchObject({ code: 0 });
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(join(place.environment.GENNAI_STATE_DIR, "guard"))).toEqual([]);
    expect((await run("guard uninstall claude-code")).printed).toContain("There is nothing of Gennai");
  });

  test("others' hooks and settings stay, and their file comes back byte for byte", async () => {
    await using place = await project();
    const { run, settings } = place;
    mkdirSync(join(place.root, ".claude"));
    const before =
      '{ "model":"x",\n\t"hooks": {"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"theirs.sh"}]}]} }';
    writeFileSync(settings, before);
    await run("guard install claude-code");
    expect(hooksIn(settings)["PreToolUse"]).toHaveLength(2);
    expect(hooksIn(settings)["PreToolUse"]?.[0]?.hooks[0]?.command).toBe("theirs.sh");
    await run("guard uninstall claude-code");
    expect(readFileSync(settings, "utf8")).toBe(before);
  });

  test("what somebody added since stays as well", async () => {
    await using place = await project();
    const { run, settings } = place;
    await run("guard install claude-code");
    const now = settingsIn(settings);
    now["model"] = "y";
    now.hooks["Stop"]?.[0]?.hooks.push({ type: "command", command: "theirs.sh" });
    writeFileSync(settings, JSON.stringify(now));
    await run("guard uninstall claude-code");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({
      model: "y",
      hooks: { Stop: [{ hooks: [{ type: "command", command: "theirs.sh" }] }] },
    });
  });

  test.each([
    ["another matcher", { matcher: "Nothing" }, {}],
    ["no wait for its answer", {}, { async: true }],
    ["a time too short for an answer", {}, { timeout: 1 }],
    ["a condition", {}, { if: "Bash(never)" }],
  ])("an entry with %s is not in place: doctor says so, and install mends it", async (_what, group, hook) => {
    await using place = await project();
    const { run, settings } = place;
    await run("guard install claude-code");
    const written = readFileSync(settings, "utf8");
    const now = settingsIn(settings);
    const [first] = now.hooks["PreToolUse"] ?? [];
    now.hooks["PreToolUse"] = [{ ...first, hooks: first?.hooks.map((each) => ({ ...each, ...hook })) ?? [], ...group }];
    writeFileSync(settings, JSON.stringify(now));
    expect((await run("guard doctor claude-code")).printed).toContain("For PreToolUse it is missing or differs");
    expect((await run("guard install claude-code")).printed).toContain("Installed in");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual(JSON.parse(written));
  });

  test("installed again over an entry of an earlier program: what is taken away in the end is all of ours", async () => {
    await using place = await project();
    const { run, settings, environment } = place;
    await run("guard install claude-code");
    const older = readFileSync(settings, "utf8").replaceAll("/guard/relay", "/older/relay");
    writeFileSync(settings, older.replace("{", '{\n  "model": "x",'));
    await run("guard install claude-code");
    expect(readFileSync(settings, "utf8")).not.toContain("/older/relay");
    await run("guard uninstall claude-code");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ model: "x" });
    expect(readdirSync(join(environment.GENNAI_STATE_DIR, "guard"))).toEqual([]);
  });

  test("many at once, of all agents: what is left in place works, and nothing is left in the end", async () => {
    await using place = await project();
    const { run, environment, root } = place;
    const agents = ["claude-code", "codex", "copilot", "gemini", "opencode", "pi"];
    const both = agents.flatMap((agent) => [
      `guard install ${agent}`,
      `guard uninstall ${agent}`,
      `guard install ${agent}`,
    ]);
    expect((await Promise.all(both.map((command) => run(command)))).map(({ code }) => code)).toEqual(both.map(() => 0));
    const { agents: now } = statusSchema.parse(JSON.parse((await run("guard status --json")).printed));
    const left = now.filter(({ installed }) => installed.length > 0);
    expect(existsSync(join(environment.GENNAI_STATE_DIR, "guard/relay"))).toBe(left.length > 0);
    await run("guard uninstall all");
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(join(environment.GENNAI_STATE_DIR, "guard"))).toEqual([]);
  });

  test("a command of others that only speaks of ours is theirs", async () => {
    await using place = await project();
    mkdirSync(join(place.root, ".claude"));
    const hooks = { Stop: [{ hooks: [{ type: "command", command: "echo guard hook claude-code" }] }] };
    writeFileSync(place.settings, JSON.stringify({ hooks }));
    await place.run("guard install claude-code");
    expect(hooksIn(place.settings)["Stop"]).toHaveLength(2);
    await place.run("guard uninstall claude-code");
    expect(hooksIn(place.settings)).toEqual(hooks);
  });

  test.each(["directory", "file"])("a project's link in place of the %s is refused", async (what) => {
    await using place = await project();
    const elsewhere = join(place.environment.HOME, "elsewhere");
    mkdirSync(elsewhere);
    if (what === "directory") symlinkSync(elsewhere, join(place.root, ".claude"));
    else {
      mkdirSync(join(place.root, ".claude"));
      symlinkSync(join(elsewhere, "settings.local.json"), place.settings);
    }
    const { code, complained } = await place.run("guard install claude-code");
    expect([code, complained]).toEqual([2, expect.stringContaining("is a link")]);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("the file keeps its mode, and nothing is left beside it", async () => {
    await using place = await project();
    mkdirSync(join(place.root, ".claude"));
    writeFileSync(place.settings, "{}");
    chmodSync(place.settings, 0o640);
    await place.run("guard install claude-code");
    expect(statSync(place.settings).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(place.root, ".claude"))).toEqual(["settings.local.json"]);
  });

  test.each(["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])(
    "a file that holds %s is left as it is",
    async (text) => {
      await using place = await project();
      mkdirSync(join(place.root, ".claude"));
      writeFileSync(place.settings, text);
      const { code, complained } = await place.run("guard install claude-code");
      expect([code, complained]).toEqual([2, expect.stringContaining("Nothing was changed")]);
      expect(readFileSync(place.settings, "utf8")).toBe(text);
    },
  );

  test("--user is the user's own file, where its link leads, or where CLAUDE_CONFIG_DIR says", async () => {
    await using place = await project();
    const { run, environment, root } = place;
    const real = join(root, "dotfiles.json");
    writeFileSync(real, "{}");
    mkdirSync(join(environment.HOME, ".claude"));
    symlinkSync(real, join(environment.HOME, ".claude/settings.json"));
    await run("guard install claude-code --user");
    expect(Object.keys(hooksIn(real))).toContain("PreToolUse");
    expect((await run("guard status")).printed).toContain(`hook    ${real}`);
    await run("guard uninstall claude-code --user");
    expect(readFileSync(real, "utf8")).toBe("{}");
    const other = join(root, "other");
    await run("guard install claude-code --user", "", { CLAUDE_CONFIG_DIR: other });
    expect(existsSync(join(other, "settings.json"))).toBe(true);
  });

  test("an agent that there is no guard for is named", async () => {
    await using place = await project();
    expect(await place.run("guard install nobody")).toMatchObject({
      code: 2,
      complained: expect.stringContaining("claude-code"),
    });
  });
});

describe("status and doctor", () => {
  test("say that nothing is in place, that no server runs, and what the hook cannot do", async () => {
    await using place = await project();
    expect((await place.run("guard status")).printed).toMatch(/none runs.*\n.*not guarded here\n[\s\S]*limit/);
    expect(await place.run("guard doctor claude-code")).toMatchObject({
      code: 1,
      printed: expect.stringContaining("fail  No hook"),
    });
    await place.run("guard install claude-code");
    const { agents, server } = JSON.parse((await place.run("guard status --json")).printed);
    expect([agents[0].installed, server]).toEqual([[place.settings], null]);
  });

  test("name what other settings do to the hook: all of them off, its environment, and hooks of others beside it", async () => {
    await using place = await project();
    await place.run("guard install claude-code");
    const shared = join(place.root, ".claude/settings.json");
    const theirs = [{ hooks: [{ type: "command", command: "rewrite.sh" }] }];
    const hooks = { PreToolUse: theirs, PermissionRequest: theirs, Stop: theirs };
    writeFileSync(shared, JSON.stringify({ disableAllHooks: true, hooks }));
    const user = join(place.environment.HOME, ".claude");
    mkdirSync(user);
    const env = { NODE_OPTIONS: "--import=x", GENNAI_X: "1", PATH: "/x", EDITOR: "vi" };
    writeFileSync(join(user, "settings.json"), JSON.stringify({ env }));
    const status = (await place.run("guard status")).printed;
    expect(status).toContain(`problem ${shared}: disableAllHooks is on`);
    expect(status).toContain(`problem ${user}/settings.json: env sets NODE_OPTIONS, GENNAI_X, PATH, which`);
    expect(status.match(/rewrite\.sh/g)).toHaveLength(2);
    const { code, printed } = await place.run("guard doctor claude-code");
    expect(code).toBe(1);
    expect(printed).toMatch(
      /fail .*disableAllHooks[\s\S]*fail .*NODE_OPTIONS[\s\S]*note .*PermissionRequest: "rewrite\.sh"/,
    );
  });

  test("doctor starts no program that a file of the workspace names", async () => {
    await using place = await project();
    mkdirSync(join(place.root, ".claude"));
    const mark = join(place.root, "started");
    const hooks = [
      { hooks: [{ type: "command", command: `'/bin/touch' '${mark}' guard hook claude-code || exit 2` }] },
    ];
    writeFileSync(place.settings, JSON.stringify({ hooks: { PreToolUse: hooks } }));
    const { code, printed } = await place.run("guard doctor claude-code");
    expect([code, printed]).toEqual([1, expect.stringContaining("another program than this one")]);
    expect(existsSync(mark)).toBe(false);
  });
});

const call = (tool_name: string, tool_input: object, session_id = "s") =>
  JSON.stringify({ session_id, cwd: "/", hook_event_name: "PreToolUse", tool_use_id: "t", tool_name, tool_input });

describe("the hook without a server", () => {
  test.each([
    ["Bash", { command: "ls" }],
    ["Write", { file_path: "a", content: "" }],
    ["mcp__a__b", { tool_name: "Read" }],
    ["Unknown", {}],
  ])("%s is refused, with a way out", async (name, input) => {
    await using place = await project();
    const { code, printed } = await place.run("guard hook claude-code", call(name, input));
    const { permissionDecision, permissionDecisionReason } = JSON.parse(printed).hookSpecificOutput;
    expect([code, permissionDecision]).toEqual([0, "deny"]);
    expect(permissionDecisionReason).toContain("gennai serve");
    expect(permissionDecisionReason).toContain("gennai guard uninstall claude-code");
  });

  test.each(["Read", "Grep", "TodoWrite"])("%s goes on", async (name) => {
    await using place = await project();
    expect(await place.run("guard hook claude-code", call(name, {}))).toMatchObject({ code: 0, printed: "" });
  });

  test.each(["", "{", "null", "{}", call("Bash", []), `${call("Read", {})} x`])("input %j blocks", async (input) => {
    await using place = await project();
    expect(await place.run("guard hook claude-code", input)).toMatchObject({ code: 2, printed: "" });
  });

  test.each(["Stop", "PostToolUse"])(
    "%s that cannot be read fails, and keeps nobody from coming to rest",
    async (event) => {
      await using place = await project();
      const input = JSON.stringify({ hook_event_name: event });
      expect(await place.run("guard hook claude-code", input)).toMatchObject({ code: 1, printed: "" });
    },
  );
});

test("with a server, the hook answers what the gate decided", async () => {
  await using server = await startTestServer({ server: { announce: true } });
  const { root } = server.workspace;
  await using place = await project();
  const asked = (name: string, input: object) =>
    place.run("guard hook claude-code", call(name, input), {
      CLAUDE_PROJECT_DIR: root,
      GENNAI_STATE_DIR: server.stateDir,
    });
  expect(await asked("Read", { file_path: join(root, "README.md") })).toMatchObject({ code: 0, printed: "" });
  const denied = JSON.parse((await asked("Write", { file_path: "/etc/x", content: "" })).printed).hookSpecificOutput;
  expect(denied).toMatchObject({
    permissionDecision: "deny",
    permissionDecisionReason: expect.stringContaining("outside"),
  });
  const asks = JSON.parse((await asked("Bash", { command: "touch x", cwd: root })).printed).hookSpecificOutput;
  expect(asks.permissionDecision).not.toBe("allow");
  mkdirSync(join(root, ".gennai"), { recursive: true });
  // It is there, and cannot judge: that is no leave to read.
  writeFileSync(join(root, ".gennai/config.yaml"), "paths: [");
  const unjudged = JSON.parse((await asked("Read", { file_path: "README.md" })).printed).hookSpecificOutput;
  expect(unjudged.permissionDecision).toBe("deny");
});

describe("Codex", () => {
  test("has its hook in the project or in its own home, and is told what its user has to do", async () => {
    await using place = await project();
    const hooks = join(place.root, ".codex/hooks.json");
    const { printed } = await place.run("guard install codex");
    expect(printed).toContain(`Installed in ${hooks}`);
    expect(printed).toContain("trust");
    expect(Object.keys(hooksIn(hooks))).toEqual(["PreToolUse", "PostToolUse", "Stop"]);
    const [group] = hooksIn(hooks)["PreToolUse"] ?? [];
    expect(group?.hooks[0]?.command).toContain(`GENNAI_GUARD_PROJECT='${place.root}' `);
    expect((await place.run("guard status")).printed).toMatch(
      /codex {2}guarded\n {2}hook[^\n]*hooks\.json\n[\s\S]*trust/,
    );
    await place.run("guard uninstall codex");
    expect(readdirSync(place.root)).toEqual([]);
    const home = join(place.root, "elsewhere");
    await place.run("guard install codex --user", "", { CODEX_HOME: home });
    expect(existsSync(join(home, "hooks.json"))).toBe(true);
  });

  test("what its hook is told where no server runs: nothing that changes goes on", async () => {
    await using place = await project();
    const told = (name: string, input: object) => place.run("guard hook codex", call(name, input));
    const refused = JSON.parse((await told("apply_patch", { command: "*** Add File: a" })).printed);
    expect(refused.hookSpecificOutput.permissionDecision).toBe("deny");
    expect(refused.hookSpecificOutput.permissionDecisionReason).toContain("guard uninstall codex");
    expect(await told("view_image", { path: "a.png" })).toMatchObject({ code: 0, printed: "" });
    expect(await told("apply_patch", { command: "nothing" })).toMatchObject({ code: 2, printed: "" });
  });
});

describe("all agents at once", () => {
  test("are those of which there is a program or a directory; the others are named, with the way to have them", async () => {
    await using place = await project();
    const bin = join(place.root, "../bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "pi"), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(bin, "codex"), "no program");
    mkdirSync(join(place.environment.HOME, ".config/opencode"), { recursive: true });
    const { code, printed } = await place.run("guard install all", "", { PATH: bin });
    expect(code).toBe(0);
    expect(readdirSync(place.root).toSorted()).toEqual([".opencode", ".pi"]);
    expect(printed).toContain(
      "Left out, because neither program nor directory was found: claude-code, codex, copilot, gemini.",
    );
    expect(printed).toContain("gennai guard install claude-code");
    const doctor = (await place.run("guard doctor all", "", { PATH: bin })).printed;
    expect(doctor).toContain(".pi/extensions");
    expect(doctor).not.toContain("No hook is in place");
    await place.run("guard install codex");
    expect((await place.run("guard doctor all", "", { PATH: bin })).printed).toContain(".codex/hooks.json");
    await place.run("guard uninstall all");
    expect(readdirSync(place.root)).toEqual([]);
  });

  test("are none where there is none, also where the project holds a program of that name", async () => {
    await using place = await project();
    writeFileSync(join(place.root, "pi"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await place.run("guard install all", "", { PATH: place.root })).toMatchObject({
      code: 1,
      complained: expect.stringMatching(/No agent was found here[^]*gennai guard install claude-code/),
    });
    expect(readdirSync(place.root)).toEqual(["pi"]);
  });
});

test("all agents at once, and nothing of any is left", async () => {
  await using place = await project();
  for (const home of [".claude", ".codex", ".copilot", ".gemini", ".config/opencode", ".pi/agent"]) {
    mkdirSync(join(place.environment.HOME, home), { recursive: true });
  }
  await place.run("guard install all");
  const { agents } = JSON.parse((await place.run("guard status --json")).printed);
  expect(agents).toMatchObject([
    { agent: "claude-code", installed: [place.settings] },
    { agent: "codex", installed: [join(place.root, ".codex/hooks.json")] },
    { agent: "copilot", installed: [join(place.root, ".github/copilot/settings.local.json")] },
    { agent: "gemini", installed: [join(place.root, ".gemini/settings.json")] },
    { agent: "opencode", installed: [join(place.root, ".opencode/plugins/gennai-guard.js")] },
    { agent: "pi", installed: [join(place.root, ".pi/extensions/gennai-guard.js")] },
  ]);
  await place.run("guard uninstall claude-code");
  // What the other one's hook starts stays.
  expect(readdirSync(join(place.environment.GENNAI_STATE_DIR, "guard"))).toContain("relay");
  await place.run("guard uninstall all");
  expect(readdirSync(place.root)).toEqual([]);
  expect(readdirSync(join(place.environment.GENNAI_STATE_DIR, "guard"))).toEqual([]);
});
