import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { cliScene } from "../../cli-scene.ts";

const rule = { name: "no-rm", pattern: "^rm", reason: "Ask first.", ask: true };
const files = { "a.txt": "one\n", ".gennai/rules.yaml": JSON.stringify({ bashToolPatterns: [rule] }) };
const done = { text: ["Done."] };
const policy = "version: 1\nallow: [{ rule: rules/project/no-rm, command: rm a.txt }]\n";

/** A repository, a place beside it, and `gennai run --ci` with a model that does this. */
async function scene(steps: readonly object[]) {
  const parts = new AsyncDisposableStack();
  const here = parts.use(await cliScene(files));
  const beside = parts.use(await temporaryDirectory());
  const script = beside.path("script.yaml");
  await writeFile(script, JSON.stringify({ turns: [{ steps }] }));
  await writeFile(beside.path("policy.yaml"), policy);
  return {
    ...here,
    beside,
    async ci(words: readonly string[], environment: NodeJS.ProcessEnv = {}) {
      const used = here.console();
      Object.assign(used.environment, environment);
      used.input.end();
      const model = ["--backend", "scripted", "--model", script];
      const code = await runCommandLine(["run", "--ci", "--server", "own", ...model, ...words, "do it"], used);
      return { code, out: used.printed(), err: used.complained() };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const read = call("Read", { file_path: "a.txt" });
const edit = call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
const forced = bash("git push --force origin main");
const rm = bash("rm a.txt");

describe("the exit code says what was in the way", () => {
  test.each<[string, number, readonly object[], readonly string[]]>([
    ["nothing", 0, [read, edit, done], []],
    ["a rule that refuses", 3, [forced, done], []],
    ["a rule that asks", 4, [rm, done], []],
    ["nothing, where the policy allows what is asked", 0, [rm, done], ["--ci-policy", "../policy"]],
    ["a connection of a command that nobody can be asked about", 4, [bash("curl -s https://example.com/"), done], []],
    ["the same, in a command that ends well", 4, [bash("curl -s https://example.com/ || true"), done], []],
    ["both: the refusal", 3, [rm, forced, done], []],
    ["a limit", 5, [read, read, done], ["--max-iterations", "1"]],
    ["the same call again and again", 5, [forced, forced, forced, done], []],
  ])("%s: %i", async (_name, expected, steps, words) => {
    await using here = await scene(steps);
    const named = words.map((word) => (word === "../policy" ? here.beside.path("policy.yaml") : word));
    const { code, out, err } = await here.ci(named);
    expect(code, out + err).toBe(expected);
  });

  test("a model that is not there: 6, and a wrong command line: 2", async () => {
    await using here = await cliScene(files);
    await using provider = await startModelServer(modelWires["openai-compatible"], () => ({
      status: 401,
      message: "wrong",
    }));
    const model = ["--backend", "openai-compatible", "--model", "m", "--base-url", provider.baseUrl];
    expect((await here.run("run", "--ci", ...model, "hello")).code).toBe(6);
    for (const [words, why] of [
      [["--ci"], /takes a request/],
      [["--ci", "--yes", "x"], /does not go with --yes/],
      [["--ci", "--ask", "x"], /--ask/],
      [["--ci", "--attempts", "2", "x"], /--attempts/],
      [["--ci", "--mode", "plan", "x"], /--mode plan/],
      [["--ci", "--annotations", "gitlab", "x"], /code-quality\.json/],
      [["--ci", "--artefacts", ".gennai", "x"], /is there already/],
      [["--ci", "--artefacts", "none/there", "x"], /is not there/],
      [["--ci", "--ci-policy", ".gennai/rules.yaml", "x"], /lies in the workspace/],
      [["--artefacts", "x", "x"], /goes with --ci/],
      [["--ci-policy", "x", "x"], /--ci-policy goes with --ci/],
    ] as const) {
      expect(await here.run("run", ...words)).toMatchObject({ code: 2, err: expect.stringMatching(why) });
    }
  });
});

test("what is kept of a run: its result, its refusals as SARIF and for GitLab, and a ledger that verifies", async () => {
  const outside = call("Write", { file_path: "../out.txt", content: "x" });
  await using here = await scene([read, edit, forced, rm, outside, rm, done]);
  const { code } = await here.ci(["--artefacts", "kept"]);
  expect(code).toBe(3);
  const kept = async (name: string) => JSON.parse(await here.repository.read(`kept/${name}`)) as unknown;
  expect(await kept("result.json")).toMatchObject({
    outcome: "completed",
    exitCode: 3,
    text: "Done.",
    changedFiles: ["a.txt"],
    refused: ["Bash", "Write"],
  });
  // https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
  expect(await kept("refusals.sarif")).toMatchObject({
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Gennai",
            rules: [{ id: "floor/git-loss" }, { id: "rules/project/no-rm" }, { id: "containment/outside-workspace" }],
          },
        },
        results: [
          { ruleId: "floor/git-loss", level: "error", locations: [place(".gennai/rules.yaml")] },
          { ruleId: "rules/project/no-rm", level: "warning", ruleIndex: 1, locations: [place(".gennai/rules.yaml")] },
          { ruleId: "containment/outside-workspace", level: "error" },
          { ruleId: "rules/project/no-rm", level: "warning" },
        ],
      },
    ],
  });
  // https://docs.gitlab.com/ci/testing/code_quality/: fingerprints are unique.
  expect(await kept("code-quality.json")).toEqual([
    {
      description: expect.stringMatching(/^Bash, git push --force origin main: .*\(rule floor\/git-loss\)$/),
      check_name: "floor/git-loss",
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      severity: "major",
      location: { path: ".gennai/rules.yaml", lines: { begin: 1 } },
    },
    expect.objectContaining({ check_name: "rules/project/no-rm", severity: "minor" }),
    expect.objectContaining({ check_name: "containment/outside-workspace" }),
  ]);
  const bundle = here.repository.path("kept/ledger.bundle");
  expect(await here.run("ledger", "verify", "--bundle", bundle)).toMatchObject({ code: 0 });
});

function place(uri: string) {
  return { physicalLocation: { artifactLocation: { uri, uriBaseId: "%SRCROOT%" }, region: { startLine: 1 } } };
}

test("nothing is written over or through what the agent put where the artefacts go", async () => {
  await using here = await scene([read, done]);
  await mkdir(here.beside.path("precious"));
  await symlink(here.beside.path("precious"), here.repository.path("kept"));
  expect(await here.ci(["--artefacts", "kept"])).toMatchObject({ code: 2 });
  await using sly = await scene([call("Write", { file_path: "kept/result.json", content: "{}" }), done]);
  const { code, err } = await sly.ci(["--artefacts", "kept"]);
  expect([code, err]).toEqual([1, expect.stringContaining("The artefacts cannot be written")]);
  expect(await readFile(join(sly.repository.root, "kept/result.json"), "utf8")).toBe("{}");
});

test("in GitHub's Actions nothing that the agent says is an order, and refusals are annotations", async () => {
  const said = "Look:\n::error::from the model\n::add-mask::x\n##[add-mask]x";
  await using here = await scene([forced, rm, { text: [said] }]);
  const { out, err } = await here.ci([], { GITHUB_ACTIONS: "true" });
  // The runner reads both, and neither waits for the other.
  expect(err).toMatch(/^::stop-commands::/);
  const lines = out.split("\n");
  const word = /^::stop-commands::([0-9a-f-]{36})$/.exec(lines[0] ?? "")?.[1];
  const end = lines.indexOf(`::${word}::`);
  expect(lines.indexOf("::error::from the model")).toBeGreaterThan(0);
  expect(lines.indexOf("::error::from the model")).toBeLessThan(end);
  expect(lines.slice(end + 1).filter((line) => line.startsWith("::"))).toEqual([
    expect.stringMatching(
      /^::error file=\.gennai\/rules\.yaml,line=1,title=Gennai%3A refused::Bash, git push --force origin main: /,
    ),
    expect.stringMatching(
      /^::warning file=\.gennai\/rules\.yaml,line=1,title=Gennai%3A needed an answer::Bash, rm a\.txt: /,
    ),
  ]);
  // Its lines of JSON are none.
  await using other = await scene([{ text: [said] }]);
  const json = await other.ci(["--json"], { GITHUB_ACTIONS: "true" });
  for (const line of json.out.trimEnd().split("\n")) expect(line).toMatch(/^\{(?!.*##\[)/);
  expect(json.err).toMatch(/^::stop-commands::/);
});

test("what names and words a model chose lead to no annotation, link or order of its own", async () => {
  const name = "a]\n::error::b](https://example.org),title=x::\u001b[2J##[add-mask]c.txt";
  await using here = await scene([bash(`git push --force '${name}' ${"x".repeat(20_000)}`), done]);
  const { out } = await here.ci(["--artefacts", "kept"], { GITHUB_ACTIONS: "true" });
  const word = /^::stop-commands::(.*)$/m.exec(out)?.[1] ?? "";
  const shown = out
    .slice(out.indexOf(`::${word}::`))
    .split("\n")
    .slice(1);
  expect(shown.filter((line) => /^\s*::|##\[/.test(line)).map((line) => line.split(" ")[0])).toEqual(["::error"]);
  expect(out).not.toContain("\u001b[2J");
  const sarif = z.object({
    runs: z.tuple([z.object({ results: z.array(z.object({ message: z.object({ text: z.string() }) })) })]),
  });
  const { runs } = sarif.parse(JSON.parse(await here.repository.read("kept/refusals.sarif")));
  for (const { message } of runs[0].results) {
    expect(message.text).not.toMatch(/(?<!\\)[[\]]/);
    expect(message.text.length).toBeLessThan(3_000);
  }
});

test("nor does what a provider says of an error, which is said after the turn", async () => {
  await using here = await cliScene(files);
  await using provider = await startModelServer(modelWires["openai-compatible"], () => ({
    status: 400,
    message: "no\n::add-mask::x\n##[add-mask]x",
  }));
  const used = here.console();
  Object.assign(used.environment, { GITHUB_ACTIONS: "true", GENNAI_API_KEY: "none" });
  used.input.end();
  const model = ["--backend", "openai-compatible", "--model", "m", "--base-url", provider.baseUrl];
  expect(await runCommandLine(["run", "--ci", "--server", "own", ...model, "do it"], used)).toBe(6);
  const word = /^::stop-commands::(.*)$/m.exec(used.printed())?.[1] ?? "";
  const after = used
    .printed()
    .slice(used.printed().indexOf(`::${word}::`))
    .split("\n")
    .slice(1);
  expect(after.filter((line) => /^\s*::/.test(line)).map((line) => line.split(" ")[0])).toEqual(["::error"]);
  // What the other stream says may come to the runner at any time.
  expect(used.complained().replace(/^::stop-commands::.*$/m, "")).not.toMatch(/^\s*::|##\[/m);
});

test("nobody's own terminal is there: its environment has the pipeline's secrets", async () => {
  const terminal = call("RunInTerminal", { command: "env > leaked.txt" });
  await using here = await scene([terminal, done]);
  const { out } = await here.ci([]);
  expect(out).toContain("No attached client can run commands in a terminal.");
  await expect(here.repository.read("leaked.txt")).rejects.toThrow("ENOENT");
});
