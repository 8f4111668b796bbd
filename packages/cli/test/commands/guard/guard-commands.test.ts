import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { guardedProject, hooksIn } from "./guarded-project.ts";

describe("status and doctor", () => {
  test("say that nothing is in place, that no server runs, and what the hook cannot do", async () => {
    await using place = await guardedProject();
    expect((await place.run("guard status")).printed).toMatch(/none runs.*\n(?:.*not guarded here\n)+$/);
    expect(await place.run("guard doctor claude-code")).toMatchObject({
      code: 1,
      printed: expect.stringContaining("fail  No hook"),
    });
    await place.run("guard install claude-code");
    const { agents, server } = JSON.parse((await place.run("guard status --json")).printed);
    expect([agents[0].installed, server]).toEqual([[place.settings], null]);
    expect((await place.run("guard status")).printed).toMatch(
      /claude-code {2}guarded.*\n(?: {2}.*\n)* {2}limit {3}A file named with @.*\n(?: {2}.*\n)*codex {2}not guarded here\n\S/,
    );
  });

  test("name what other settings do to the hook: all of them off, its environment, and hooks of others beside it", async () => {
    await using place = await guardedProject();
    await place.run("guard install claude-code");
    const shared = join(place.root, ".claude/settings.json");
    const theirs = [{ hooks: [{ type: "command", command: "rewrite.sh" }] }];
    const hooks = { PreToolUse: theirs, PermissionRequest: theirs, Stop: theirs };
    writeFileSync(shared, JSON.stringify({ disableAllHooks: true, hooks }));
    const user = join(place.environment.HOME, ".claude");
    mkdirSync(user);
    const env = {
      NODE_OPTIONS: "--import=x",
      GENNAI_X: "1",
      PATH: "/x",
      CLAUDE_CODE_SAFE_MODE: "1",
      XDG_STATE_HOME: "x",
      EDITOR: "vi",
    };
    writeFileSync(join(user, "settings.json"), JSON.stringify({ env }));
    const status = (await place.run("guard status")).printed;
    expect(status).toContain(`problem ${shared}: disableAllHooks is on`);
    expect(status).toContain(
      `problem ${user}/settings.json: env sets NODE_OPTIONS, GENNAI_X, PATH, CLAUDE_CODE_SAFE_MODE, XDG_STATE_HOME, which`,
    );
    expect(status.match(/rewrite\.sh/g)).toHaveLength(2);
    const { code, printed } = await place.run("guard doctor claude-code");
    expect(code).toBe(1);
    expect(printed).toMatch(
      /fail .*disableAllHooks[\s\S]*fail .*NODE_OPTIONS[\s\S]*note .*PermissionRequest: "rewrite\.sh"/,
    );
  });

  test.each([
    ["claude-code", "CLAUDE_CODE_SIMPLE"],
    ["claude-code", "CLAUDE_CODE_SAFE_MODE"],
    ["opencode", "OPENCODE_PURE"],
  ])("name for %s the variable %s, with which it starts no hook", async (agent, variable) => {
    await using place = await guardedProject();
    await place.run(`guard install ${agent}`);
    const said = (command: string, value: string) => place.run(`guard ${command}`, "", { [variable]: value });
    expect((await said("status", "1")).printed).toMatch(new RegExp(`problem ${variable} is set, with which`));
    expect((await said(`doctor ${agent}`, "1")).printed).toMatch(new RegExp(`fail .*${variable}`));
    expect((await said("status", "")).printed).not.toContain(`problem ${variable}`);
  });

  test.each([
    ["opencode", "opencode", "2.4.1", "opencode 2.4.1 counts as unguarded: the hook was tried with version 1"],
    ["opencode", "opencode", "new", "opencode does not tell its version, so it counts as unguarded"],
    ["opencode", "opencode", "1.18.33", undefined],
    ["claude-code", "claude", "2.1.40", "Claude Code 2.1.40 counts as unguarded: the hook needs version 2.1.49"],
  ])("%s, whose %s says version %s", async (agent, program, version, problem) => {
    await using place = await guardedProject();
    const bin = join(place.root, "..", "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, program), `#!/bin/sh\necho ${program} ${version}\n`, { mode: 0o755 });
    const said = (command: string) => place.run(`guard ${command}`, "", { PATH: `${bin}:${process.env["PATH"]}` });
    const installed = (await said(`install ${agent}`)).printed;
    const status = (await said(`status ${agent}`)).printed;
    const doctor = await said(`doctor ${agent}`);
    if (problem === undefined) {
      expect(installed).toContain("asks Gennai about each call");
      expect(status).toContain("opencode  guarded, version 1.18.33");
      expect(doctor.printed).not.toContain("unguarded");
      return;
    }
    expect(installed).toContain(`But ${problem}.`);
    expect(installed).not.toContain("asks Gennai about each call");
    expect(status).toContain(`${agent}  unguarded`);
    expect(status).toContain(`problem ${problem}`);
    expect(doctor).toMatchObject({ code: 1, printed: expect.stringContaining(`fail  ${problem}`) });
  });

  test("doctor starts no program that a file of the workspace names", async () => {
    await using place = await guardedProject();
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
    await using place = await guardedProject();
    await place.run("guard install claude-code");
    const { code, printed } = await place.run("guard hook claude-code", call(name, input));
    const { permissionDecision, permissionDecisionReason } = JSON.parse(printed).hookSpecificOutput;
    expect([code, permissionDecision]).toEqual([0, "deny"]);
    expect(permissionDecisionReason).toContain("gennai serve");
    expect(permissionDecisionReason).toContain("gennai guard uninstall claude-code");
  });

  test("of a session that began before an uninstall: what happened, what to do, and who did it", async () => {
    await using place = await guardedProject();
    mkdirSync(join(place.root, ".git"));
    await place.run("guard install claude-code");
    const [group] = hooksIn(place.settings)["PreToolUse"] ?? [];
    await place.run("guard uninstall claude-code");
    expect(existsSync(/'(\S+relay)'/.exec(group?.hooks[0]?.command ?? "")?.[1] ?? "")).toBe(true);
    const { printed } = await place.run("guard hook claude-code", call("Write", { file_path: "a", content: "" }));
    expect(printed).toContain('"permissionDecision":"deny"');
    expect(printed).toContain("no longer installed for this agent");
    expect(printed).toContain("start the agent anew");
    const shown = await place.run("ledger show");
    expect(shown.printed).toMatch(/guard of Claude Code taken away from .*settings\.local\.json, by /);
  });

  test("for all users refuses reads, too, where the project says which state directory there is", async () => {
    await using place = await guardedProject();
    const asked = (state: string, name: string) =>
      place.run("guard hook claude-code", call(name, {}), { GENNAI_STATE_DIR: "", XDG_STATE_HOME: state });
    const { printed } = await asked(join(place.root, ".state"), "Read");
    expect(printed).toContain("state directory lies in the project");
    expect(printed).toContain("sudo gennai guard uninstall claude-code --managed");
    expect(await asked(join(place.environment.HOME, ".state"), "Read")).toMatchObject({ code: 0, printed: "" });
  });

  test.each(["Read", "Grep", "TodoWrite"])("%s goes on", async (name) => {
    await using place = await guardedProject();
    expect(await place.run("guard hook claude-code", call(name, {}))).toMatchObject({ code: 0, printed: "" });
  });

  test.each(["", "{", "null", "{}", call("Bash", []), `${call("Read", {})} x`])("input %j blocks", async (input) => {
    await using place = await guardedProject();
    expect(await place.run("guard hook claude-code", input)).toMatchObject({ code: 2, printed: "" });
  });

  test.each(["Stop", "PostToolUse"])(
    "%s that cannot be read fails, and keeps nobody from coming to rest",
    async (event) => {
      await using place = await guardedProject();
      const input = JSON.stringify({ hook_event_name: event });
      expect(await place.run("guard hook claude-code", input)).toMatchObject({ code: 1, printed: "" });
    },
  );
});

test("with a server, the hook answers what the gate decided", async () => {
  await using server = await startTestServer({ server: { announce: true } });
  const { root } = server.workspace;
  await using place = await guardedProject();
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
    await using place = await guardedProject();
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
    await using place = await guardedProject();
    await place.run("guard install codex");
    const told = (name: string, input: object) => place.run("guard hook codex", call(name, input));
    const refused = JSON.parse((await told("apply_patch", { command: "*** Add File: a" })).printed);
    expect(refused.hookSpecificOutput.permissionDecision).toBe("deny");
    expect(refused.hookSpecificOutput.permissionDecisionReason).toContain("guard uninstall codex");
    expect(await told("view_image", { path: "a.png" })).toMatchObject({ code: 0, printed: "" });
    expect(await told("apply_patch", { command: "nothing" })).toMatchObject({ code: 2, printed: "" });
  });
});
