import { describe, expect, test } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import type { Effect, WorkspacePath } from "#effect";
import type { SlowPattern } from "#rules/compile/slow-pattern";
import { createRulesPolicy, ruleVerdicts } from "#rules/rules-policy";
import { inputWith } from "../policies/effects.ts";
import { inThread, never, rulesOf } from "./rule-fixture.ts";

const fixture = {
  zeroAccessPaths: ["~/.ssh/", "~/.aws/", ".env", ".env.*", "!.env.example", "*.pem"],
  readOnlyPaths: ["package-lock.json", "*.lock", "dist/", "/etc/"],
  noDeletePaths: ["README.md", "LICENSE*", ".git/", "docs/keep/plan.md"],
};

function path(raw: string): WorkspacePath {
  const absolute = raw.startsWith("/") ? raw : raw === "." ? "/ws" : `/ws/${raw}`;
  const inside = absolute === "/ws" || absolute.startsWith("/ws/");
  return { raw, absolute, relative: inside ? absolute.slice(4) : "", inside };
}

function exec(command: string): Effect {
  const analysed = analyseCommand(command, { cwd: "/ws", home: "/home/dev", workspace: "/ws" });
  return { type: "exec", command: analysed, cwd: path("."), where: "server" };
}

async function verdict(
  effect: Effect,
  data: unknown,
  options: { toolName?: string; slow?: SlowPattern; readOnly?: string } = {},
) {
  const rules = rulesOf(data, options);
  const policy = createRulesPolicy({ current: () => rules, slow: options.slow ?? inThread });
  const analysis = { statement: "", effects: [effect] };
  const toolName = options.toolName ?? (effect.type === "exec" ? "Bash" : "Tool");
  const input = inputWith({ toolName, analysis });
  return policy.decide(input, { signal: new AbortController().signal });
}

describe("seed 004 §3A paths: protected paths in commands", () => {
  const rows: readonly (readonly [command: string, wanted: "allow" | "deny"])[] = [
    // RUL-014 to RUL-018
    ["cat dist/app.js", "allow"],
    ["npm ci", "allow"],
    ["cat src/environment.ts", "allow"],
    ["grep -n 'process.env' src/a.ts", "allow"],
    ["cat README.md | wc -l", "allow"],
    ["cat .env", "deny"],
    ["cat .env.local", "deny"],
    ["cat .env.example", "allow"],
    ["cat ~/.ssh/id_rsa", "deny"],
    ['cat "$HOME/.aws/credentials"', "deny"],
    ["head server.pem", "deny"],
    ["cp .env src/x", "deny"],
    ["cat .e*", "deny"],
    ["ls *.json", "allow"],
    ["ls", "allow"],
    // read-only
    ["echo x | tee -a package-lock.json", "deny"],
    ["echo x > dist/app.js", "deny"],
    ["sed -i s/a/b/ yarn.lock", "deny"],
    ["rm -r dist", "deny"],
    ["rm *.json", "deny"],
    ["node dist/index.js --help", "allow"],
    ["npm run build -- --outDir dist", "allow"],
    ["git add package-lock.json", "allow"],
    ["git checkout package-lock.json", "deny"],
    ["frobnicate dist/app.js", "deny"],
    ["cp dist/app.js /tmp/x", "allow"],
    // no delete
    ["rm README.md", "deny"],
    ["bash -c 'unlink README.md'", "deny"],
    ["mv README.md /tmp/gone", "deny"],
    ["git rm -f README.md", "deny"],
    ["git mv README.md gone.md", "deny"],
    ["> README.md", "deny"],
    ["echo x >> README.md", "allow"],
    ["echo x | tee -a README.md", "allow"],
    ["tee README.md < /dev/null", "deny"],
    ["sed -i s/a/b/ README.md", "allow"],
    ["ln -sf /etc/passwd README.md", "deny"],
    ["git diff --output=README.md", "deny"],
    ["find . -name README.md -delete", "deny"],
    ["find . -name 'READ*' -exec rm {} +", "deny"],
    ["find . -name '*.log' -delete", "allow"],
    ["rm -r docs", "deny"],
    ["rm *", "deny"],
    ["rm src/*.ts", "allow"],
    ["cd docs && rm ../README.md", "deny"],
    ["touch README.md", "allow"],
  ];
  test.each(rows)("%s", async (command, wanted) => {
    expect((await verdict(exec(command), fixture)).type).toBe(wanted);
  });

  test.each<[command: string, wanted: "allow" | "deny"]>([
    [
      "frobnicate dist/app.js; node -e 'require(\"./dist/app.js\")'; python3 -c 'print(open(\"/etc/os-release\").read())'",
      "allow",
    ],
    ["echo x > dist/app.js", "deny"],
    ["rm -r dist", "deny"],
    ["frobnicate .env", "deny"],
  ])("on a stage, where what it changes is judged: %s", async (command, wanted) => {
    expect((await verdict({ ...exec(command), staged: true } as Effect, fixture)).type).toBe(wanted);
  });
});

describe("seed 004 §3B zero, seed 004 §3B glob, seed 004 §3B read-only, seed 004 §3B no-delete: protected paths in file tools", () => {
  const rows: readonly (readonly [name: string, effect: Effect, wanted: "allow" | "deny"])[] = [
    ["read .env", { type: "read", path: path(".env") }, "deny"],
    ["read .env.example", { type: "read", path: path(".env.example") }, "allow"],
    [
      "read through a link",
      { type: "read", path: { ...path("notes"), absolute: "/ws/.env", relative: ".env" } },
      "deny",
    ],
    ["read by a name that is a link", { type: "read", path: { ...path("a.txt"), raw: ".env" } }, "deny"],
    ["read $HOME/.ssh", { type: "read", path: { ...path("x"), raw: "$HOME/.ssh/id_rsa" } }, "deny"],
    ["read src/environment.ts", { type: "read", path: path("src/environment.ts") }, "allow"],
    ["read a read-only file", { type: "read", path: path("package-lock.json") }, "allow"],
    ["list the workspace", { type: "list", path: path(".") }, "allow"],
    ["list a zero-access directory", { type: "list", path: path("/home/dev/.ssh") }, "deny"],
    ["search the workspace", { type: "search", path: path(".") }, "allow"],
    ["search **/.env", { type: "search", path: path("."), glob: "**/.env" }, "deny"],
    ["search .e*", { type: "search", path: path("."), glob: ".e*" }, "deny"],
    ["search {a,.env}", { type: "search", path: path("."), glob: "{a,.env}" }, "deny"],
    ["search *.ts", { type: "search", path: path("."), glob: "*.ts" }, "allow"],
    ["write a lock file", write("package-lock.json", "update"), "deny"],
    ["write below dist", write("dist/a/b.js", "create"), "deny"],
    ["propose a lock file", { type: "propose", path: path("yarn.lock"), operation: "update" }, "deny"],
    ["write README", write("README.md", "update"), "allow"],
    ["delete README", write("README.md", "delete"), "deny"],
    ["delete readme.MD", write("readme.MD", "delete"), "deny"],
    ["propose to delete README", { type: "propose", path: path("README.md"), operation: "delete" }, "deny"],
    ["delete a source", write("src/a.ts", "delete"), "allow"],
  ];
  test.each(rows)("%s", async (_, effect, wanted) => {
    expect((await verdict(effect, fixture)).type).toBe(wanted);
  });
});

function write(name: string, operation: "create" | "update" | "delete"): Effect {
  return { type: "write", operation, path: path(name), base: undefined, current: undefined };
}

describe("seed 004 §3A patterns: on the raw command, and on what it runs", () => {
  const data = {
    bashToolPatterns: [
      { pattern: "^rm\\b", reason: "rm" },
      { pattern: "\\bgit\\s+reset\\s+--hard", reason: "git reset --hard" },
      { pattern: "\\brm\\s+-rf\\s+root", reason: "deletes root" },
      { pattern: "\\bgit\\s+push\\s+.*--force(?!-with-lease)", reason: "force push" },
      { pattern: "git stash drop", reason: "loses a stash", ask: true },
      { pattern: "\\bsudo\\s+rm\\b", reason: "sudo rm" },
    ],
  };
  const rows: readonly (readonly [command: string, wanted: "allow" | "ask" | "deny"])[] = [
    ["rm x", "deny"],
    // RUL-013, RUL-021, RUL-022
    [" ; rm -rf src", "deny"],
    ["git commit -m 'fix: do not rm -rf root'", "allow"],
    ["grep -rn 'git reset --hard' docs", "allow"],
    ["ls -la # git reset --hard", "allow"],
    ["cat <<'EOF'\ngit reset --hard\nEOF", "allow"],
    ["echo 'git reset --hard'", "allow"],
    ["echo 'git reset --hard' | sh", "deny"],
    ['git commit -m "$(git reset --hard)"', "deny"],
    ["bash -c 'git reset --hard'", "deny"],
    ["git  reset   --hard", "deny"],
    ["git push origin x --force", "deny"],
    ["git push --force-with-lease", "allow"],
    ["git push --force-with-lease && git push --force", "deny"],
    ["git stash drop", "ask"],
    ["sudo -u dev rm x", "deny"],
  ];
  test.each(rows)("%s", async (command, wanted) => {
    expect((await verdict(exec(command), data)).type).toBe(wanted);
  });

  test("seed 004 §4 blocking: the reason and the rule's name are the file's", async () => {
    expect(await verdict(exec("git reset --hard"), data)).toMatchObject({
      type: "deny",
      finding: { rule: "rules/project/2", reason: "Security Policy Violation: git reset --hard" },
    });
    expect(await verdict(exec("git stash drop"), data)).toMatchObject({ finding: { reason: "loses a stash" } });
  });

  test("what the slow engine cannot tell counts as a match", async () => {
    expect((await verdict(exec("git push --force-with-lease"), data, { slow: never })).type).toBe("deny");
    expect((await verdict(exec("git status"), data, { slow: never })).type).toBe("allow");
  });

  test("every rule that fires is told", async () => {
    const input = {
      toolName: "Bash",
      analysis: { statement: "", effects: [exec("rm x; git reset --hard; rm README.md")] },
    };
    const rules = rulesOf({ ...data, noDeletePaths: ["README.md"] });
    const verdicts = await ruleVerdicts(input, rules, inThread, { signal: new AbortController().signal });
    const names = verdicts.flatMap((each) => (each.type === "allow" ? [] : [each.finding.rule]));
    expect(names).toEqual(["rules/project/noDeletePaths/1", "rules/project/1", "rules/project/2"]);
  });
});

test.each([
  ["Delete", "delete", "deny"],
  ["RunInTerminal", "bash", "deny"],
  ["Glob", "find", "deny"],
  ["MultiEdit", "edit", "deny"],
  ["Read", "write", "allow"],
])("tool %s with %s denied: %s", async (toolName, denied, wanted) => {
  expect((await verdict({ type: "session" }, { tools: { deny: [denied] } }, { toolName })).type).toBe(wanted);
});

test("without usable rules nothing is changed, and reading goes on", async () => {
  const readOnly = "rules.yaml:3: bad";
  expect(await verdict(write("src/a.ts", "update"), {}, { readOnly })).toMatchObject({
    type: "deny",
    finding: { rule: "rules/invalid" },
  });
  expect((await verdict(exec("npm test"), {}, { readOnly })).type).toBe("deny");
  expect((await verdict(exec("git status"), {}, { readOnly })).type).toBe("allow");
  expect((await verdict({ type: "read", path: path("src/a.ts") }, {}, { readOnly })).type).toBe("allow");
});

test("a question names every rule that asks", async () => {
  const bashToolPatterns = [
    { pattern: "^rm ", reason: "Deletes.", ask: true },
    { pattern: "db", reason: "The database.", ask: true },
  ];
  const names = async (command: string): Promise<readonly unknown[]> => {
    const found = await verdict(exec(command), { bashToolPatterns });
    return found.type === "ask" ? [found.finding.reason, found.finding.alongside] : [found.type];
  };
  expect(await names("rm src/a.ts")).toEqual(["Deletes.", undefined]);
  expect(await names("rm src/db.ts")).toEqual(["Deletes.", [expect.stringMatching(/^rules\//)]]);
});
