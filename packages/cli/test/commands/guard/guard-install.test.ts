import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { guardedProject, hooksIn, hooksStart, settingsIn } from "./guarded-project.ts";

const statusSchema = z.object({ agents: z.array(z.object({ installed: z.array(z.string()) })) });

describe("install and uninstall", () => {
  test("there was nothing: then a hook for each event, once however often it is installed, and nothing again", async () => {
    await using place = await guardedProject();
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
      "ConfigChange",
      "Stop",
      "SessionEnd",
    ]);
    // Claude Code goes on after any other exit code than 0 and 2.
    expect(hooksIn(settings)["PreToolUse"]).toEqual([
      {
        matcher: "*",
        hooks: [
          {
            type: "command",
            command: expect.stringMatching(/guard hook claude-code \|\| exit 2$/),
            timeout: 60,
            onFailure: "block",
          },
        ],
      },
    ]);
    const state = place.environment.GENNAI_STATE_DIR;
    for (const [event, [group]] of Object.entries(hooksIn(settings))) {
      const command = group?.hooks[0]?.command ?? "";
      const relay = `PERL5OPT= PERL5LIB= GENNAI_STATE_DIR='${state}' GENNAI_GUARD_PROJECT= '/usr/bin/perl' '${state}/guard/relay' '`;
      expect(command.startsWith(`NODE_OPTIONS= ${relay}`)).toBe(true);
      // At Stop, 2 would mean that it must go on.
      expect([event, command.slice(-1)]).toEqual([event, ["PreToolUse", "ConfigChange"].includes(event) ? "2" : "1"]);
    }
    expect((await run("guard install claude-code")).printed).toContain("In place already");
    expect(readFileSync(settings, "utf8")).toBe(written);
    expect(await run("guard uninstall claude-code")).toMatchObject({ code: 0 });
    expect(readdirSync(root)).toEqual([]);
    expect((await run("guard uninstall claude-code")).printed).toContain("There is nothing of Gennai");
  });

  test("a hook that lets go on what it must refuse is no guard: install says so, whatever stands in the file", async () => {
    await using place = await guardedProject();
    for (const [ended, code] of [
      [0, 1],
      [1, 0],
      [2, 0],
    ] as const) {
      using _started = hooksStart(place.root, ended);
      const { code: said, printed } = await place.run("guard install claude-code");
      // Of Claude Code any failure is a refusal, by the shell that starts the hook.
      expect([said, /did not refuse a call that it must/.test(printed)]).toEqual([code, code === 1]);
    }
  });

  test("what somebody added since stays as well", async () => {
    await using place = await guardedProject();
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
    await using place = await guardedProject();
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
    await using place = await guardedProject();
    const { run, settings, environment } = place;
    await run("guard install claude-code");
    const older = readFileSync(settings, "utf8").replaceAll("/guard/relay", "/older/relay");
    writeFileSync(settings, older.replace("{", '{\n  "model": "x",'));
    await run("guard install claude-code");
    expect(readFileSync(settings, "utf8")).not.toContain("/older/relay");
    await run("guard uninstall claude-code");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ model: "x" });
    expect(readdirSync(join(environment.GENNAI_STATE_DIR, "guard"))).toEqual(["relay"]);
  });

  test("many at once, of all agents: what is left in place works, and nothing is left in the end", async () => {
    await using place = await guardedProject();
    const { run, environment, root } = place;
    const agents = ["claude-code", "codex", "copilot", "gemini", "opencode", "pi"];
    const both = agents.flatMap((agent) => [
      `guard install ${agent}`,
      `guard uninstall ${agent}`,
      `guard install ${agent}`,
    ]);
    expect((await Promise.all(both.map((command) => run(command)))).map(({ code }) => code)).toEqual(both.map(() => 0));
    const { agents: now } = statusSchema.parse(JSON.parse((await run("guard status --json")).printed));
    expect(now).toHaveLength(agents.length);
    expect(existsSync(join(environment.GENNAI_STATE_DIR, "guard/relay"))).toBe(true);
    await run("guard uninstall all");
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(join(environment.GENNAI_STATE_DIR, "guard"))).toEqual(["relay"]);
  });

  test("a command of others that only speaks of ours is theirs", async () => {
    await using place = await guardedProject();
    mkdirSync(join(place.root, ".claude"));
    const hooks = { Stop: [{ hooks: [{ type: "command", command: "echo guard hook claude-code" }] }] };
    writeFileSync(place.settings, JSON.stringify({ hooks }));
    await place.run("guard install claude-code");
    expect(hooksIn(place.settings)["Stop"]).toHaveLength(2);
    await place.run("guard uninstall claude-code");
    expect(hooksIn(place.settings)).toEqual(hooks);
  });

  test.each(["directory", "file"])("a project's link in place of the %s is refused", async (what) => {
    await using place = await guardedProject();
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

  test.each(["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])(
    "a file that holds %s is left as it is",
    async (text) => {
      await using place = await guardedProject();
      mkdirSync(join(place.root, ".claude"));
      writeFileSync(place.settings, text);
      const { code, complained } = await place.run("guard install claude-code");
      expect([code, complained]).toEqual([2, expect.stringContaining("Nothing was changed")]);
      expect(readFileSync(place.settings, "utf8")).toBe(text);
    },
  );

  test("--user is the user's own file, where its link leads, or where CLAUDE_CONFIG_DIR says", async () => {
    await using place = await guardedProject();
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
    await using place = await guardedProject();
    expect(await place.run("guard install nobody")).toMatchObject({
      code: 2,
      complained: expect.stringContaining("claude-code"),
    });
  });
});

describe("all agents at once", () => {
  test("are those of which there is a program or a directory; the others are named, with the way to have them", async () => {
    await using place = await guardedProject();
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
    await using place = await guardedProject();
    writeFileSync(join(place.root, "pi"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await place.run("guard install all", "", { PATH: place.root })).toMatchObject({
      code: 1,
      complained: expect.stringMatching(/No agent was found here[^]*gennai guard install claude-code/),
    });
    expect(readdirSync(place.root)).toEqual(["pi"]);
  });
});
