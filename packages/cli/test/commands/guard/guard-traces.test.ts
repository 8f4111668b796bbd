import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";
import { hooksStart } from "./guarded-project.ts";

/** Where an agent's file is in a project, and in the user's home; `others` is what somebody else may have there. */
const agents = [
  {
    agent: "claude-code",
    project: ".claude/settings.local.json",
    user: ".claude/settings.json",
    others: '{ "model":"x",\n\t"hooks": {"Stop":[{"hooks":[{"type":"command","command":"theirs.sh"}]}]} }',
  },
  {
    agent: "codex",
    project: ".codex/hooks.json",
    user: ".codex/hooks.json",
    others: '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"theirs.sh"}]}]}}',
  },
  {
    agent: "copilot",
    project: ".github/copilot/settings.local.json",
    user: ".copilot/hooks/gennai-guard.json",
    others: '{"hooks":{"preToolUse":[{"type":"command","bash":"theirs.sh"}]} }',
  },
  {
    agent: "gemini",
    project: ".gemini/settings.json",
    user: ".gemini/settings.json",
    others: '{"hooks":{"BeforeTool":[{"matcher":"*","hooks":[{"type":"command","command":"theirs.sh"}]}]},\r\n"ui":{}}',
  },
  { agent: "opencode", project: ".opencode/plugins/gennai-guard.js", user: ".config/opencode/plugins/gennai-guard.js" },
  { agent: "pi", project: ".pi/extensions/gennai-guard.js", user: ".pi/agent/extensions/gennai-guard.js" },
];

const places = ["project", "user"] as const;

/** Every file and directory below, with its mode and its bytes. */
function treeOf(root: string): Readonly<Record<string, string>> {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries(
    paths.map((path) => {
      const stat = statSync(join(root, path));
      const held = stat.isFile() ? readFileSync(join(root, path), "base64") : "directory";
      return [path, `${(stat.mode & 0o7777).toString(8)} ${held}`];
    }),
  );
}

const cases = agents.flatMap(({ agent, others, ...files }) =>
  places.flatMap((place) => {
    const file = files[place];
    const beside = join(dirname(dirname(file)), "theirs.txt");
    return [
      { agent, place, file, what: "nothing was there", before: {} },
      { agent, place, file, what: "a directory of the agent was there", before: { [beside]: "theirs\n" } },
      ...(others === undefined
        ? []
        : [{ agent, place, file, what: "others' file was there", before: { [file]: others } }]),
    ];
  }),
);

test.each(cases)("$agent, $place: $what, and is again, byte for byte", async ({ agent, place, file, before }) => {
  await using directory = await temporaryDirectory();
  const [app, home, state] = ["app", "home", "state"].map((name) => directory.path(name)) as [string, string, string];
  for (const path of [app, home]) mkdirSync(path);
  const root = place === "project" ? app : home;
  using _started = hooksStart(directory.root, 2);
  for (const [path, text] of Object.entries(before)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), 0o640);
  }
  const untouched = [treeOf(app), treeOf(home)];
  const run = async (command: string): Promise<number> => {
    const flags = place === "user" ? ["--user"] : [];
    const console = testConsole(app, { HOME: home, GENNAI_STATE_DIR: state });
    return runCommandLine(["guard", command, agent, ...flags], console);
  };
  // Twice: what is put back is the first original.
  for (const command of ["install", "install", "uninstall"]) {
    expect(await run(command)).toBe(0);
    expect(existsSync(join(root, file))).toBe(command === "install" || Object.hasOwn(before, file));
  }
  expect([treeOf(app), treeOf(home)]).toEqual(untouched);
  // An agent that still runs starts it.
  expect(readdirSync(join(state, "guard"))).toEqual(["relay"]);
});
