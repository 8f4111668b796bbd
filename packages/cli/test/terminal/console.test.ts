import { describe, expect, test } from "vitest";
import { asTyped, commandName } from "#terminal/console";
import { cliScene } from "../cli-scene.ts";

const started = { npm_lifecycle_event: "start", npm_package_json: "/code/gennai/package.json" };

describe("what the user typed", () => {
  test.each<[string, NodeJS.ProcessEnv, string]>([
    ["the program itself", {}, "gennai"],
    ["another script of npm's", { ...started, npm_lifecycle_event: "test" }, "gennai"],
    ["npm start", { ...started, GENNAI_INVOKED_FROM: "/code/gennai" }, "npm start --"],
    ["npm start, further down", { ...started, GENNAI_INVOKED_FROM: "/code/gennai/docs" }, "npm start --"],
    ["npm start, of an npm that says little", { npm_lifecycle_event: "start" }, "npm start --"],
    ["npm --prefix, from elsewhere", { ...started, GENNAI_INVOKED_FROM: "/code/gennai-too" }, "gennai"],
    ["npm --prefix, from above", { ...started, GENNAI_INVOKED_FROM: "/code" }, "gennai"],
  ])("%s", (_name, environment, wanted) => {
    expect(commandName(environment)).toBe(wanted);
  });

  test.each([
    ["`gennai sessions` lists them.", "`npm start -- sessions` lists them."],
    ["Usage: gennai [options]; gennai --help", "Usage: npm start -- [options]; npm start -- --help"],
    [
      "Start one with gennai serve, or with gennai run.",
      "Start one with npm start -- serve, or with npm start -- run.",
    ],
    ["/home/you/gennai run, .gennai run, gennai runs, gennai tenant", undefined],
  ])("in %j", (text, wanted = text) => {
    expect(asTyped(text, { npm_lifecycle_event: "start" })).toBe(wanted);
    expect(asTyped(text, {})).toBe(text);
  });
});

const commands: readonly (readonly string[])[] = [
  ["--help"],
  ["run", "--help"],
  ["sessions"],
  ["sessions", "show", "none"],
  ["undo"],
  ["plan", "status"],
  ["plan", "preview", "none"],
  ["plan", "new", " "],
  ["plan", "new", "replace apple with fig in a.txt"],
  ["intents", "list"],
  ["mcp", "accept", "none"],
  ["ledger", "show"],
  ["ledger", "verify"],
  ["policy", "check"],
  ["emergency", "block"],
  ["doctor"],
  ["run", "replace apple with fig in a.txt", "--yes", "--commands", "ask"],
  ["undo", "--list"],
];

test("no command of the user is told by another name than the one they typed", async () => {
  await using here = await cliScene({
    "a.txt": "apple\n",
    ".claude/settings.json": '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true"}]}]}}\n',
    ".gennai/mcp.json": '{"servers":{"one":{"command":"true"}}}\n',
  });
  for (const args of commands) {
    const console = here.console();
    console.environment["npm_lifecycle_event"] = "start";
    console.input.end();
    const { runCommandLine } = await import("#command-line");
    await runCommandLine(args, console);
    const said = console.printed() + console.complained();
    expect.soft(said.match(/.*(?<![\w./-])gennai (?:-|[a-z]+ ?).*/g) ?? [], args.join(" ")).toEqual([]);
  }
});
