import type { Risk } from "@gennai/protocol/model/governance/risk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import type { Effect } from "#effect";
import { type ActionFacts, actionFacts } from "#gate/confirm/action-facts";
import { type AnswerPattern, covers, patternsFor } from "#gate/confirm/answer-pattern";
import { offeredPattern } from "#gate/confirm/offered-pattern";
import { commandVerdict } from "#policies/commands";
import { computeRisk } from "#policies/risk";
import { ask, deny } from "#verdict";

const place = { sessionId: "s", policySha256: "p", isolation: "unsandboxed" };
const root = { raw: ".", relative: "", absolute: "/ws", inside: true };

function shell(command: string, more: Partial<ActionFacts> = {}): ActionFacts {
  const analysed = analyseCommand(command, { cwd: "/ws", home: "/home/dev" });
  const effect: Effect = { type: "exec", command: analysed, cwd: root, where: "server" };
  const analysis = { statement: `Run ${command}`, effects: [effect] };
  const verdict = commandVerdict(analysed);
  const fired = [{ policy: "commands", verdict }];
  return {
    ...actionFacts({ callId: "c", tool: "Bash", analysis, verdict, fired, risk: computeRisk(analysis) }),
    ...more,
  };
}

function write(relative: string, options: { readonly operation?: "create" | "update"; readonly rule?: string } = {}) {
  const { operation = "update", rule = "rules/project/1" } = options;
  const path = { raw: relative, relative, absolute: `/ws/${relative}`, inside: true };
  const verdict = ask({ code: "rule_asks", rule, reason: "Look." });
  const analysis = {
    statement: `Edit ${relative}`,
    effects: [{ type: "write", operation, path, base: undefined, current: undefined } as const],
  };
  return actionFacts({ callId: "c", tool: "Edit", analysis, verdict, fired: [], risk: "medium" });
}

function onlyPattern(facts: ActionFacts): AnswerPattern {
  const [pattern, ...more] = patternsFor(facts, place);
  if (pattern === undefined || more.length > 0) throw new Error("There is not one pattern.");
  return pattern;
}

describe("a pattern that is offered", () => {
  it.each([
    ["rm src/a.ts", "rm src/*.ts"],
    ["rm -f src/a.ts src/b.js", "rm -f src/*.ts src/*.js"],
    ["mkdir -p src/made", "mkdir -p src/*"],
    ["git add src/a.ts", "git add src/*.ts"],
    ["git commit -m 'what I did'", "git commit -m *"],
    ["git switch -c topic/x", "git switch -c topic/*"],
    ["prettier --write src/a.ts", "prettier --write src/*.ts"],
  ])("for %j is %j", (command, text) => {
    expect(onlyPattern(shell(command)).text).toBe(text);
  });

  it.each([
    ...["git push origin topic", "rm -rf src", "npm test", "node src/a.ts", "cp src/a.ts src/b.ts"],
    ...["prettier --config evil.js --write src/a.ts", "touch -r src/a.ts src/b.ts", "rm src/a.ts && rm src/b.ts"],
    ...["rm src/a.ts > out", "rm src/*.ts", "rm -r src", "mv notes old", "mv src/a.ts lib", "git mv src/a lib/a"],
    ...["git add src", "prettier --write src", "rm $X", "sudo rm src/a.ts", "env rm src/a.ts", "/bin/rm src/a.ts"],
    ...["rm package.json", "rm .env.local", "rm ../a.ts", "rm /tmp/a.ts", "touch .git/x"],
    ...["git commit --no-verify -m x", "git -c core.editor=x commit -m y", "A=1 rm src/a.ts", 'git commit -m "$(x)"'],
    "git commit -m 'a\nb'",
  ])("is none for %j", (command) => {
    expect(patternsFor(shell(command), place)).toEqual([]);
  });

  it("is none for rules that ask about something particular, for a deny, and for high risk", () => {
    const facts = shell("rm src/a.ts");
    for (const rule of ["control-files/executable", "secrets/npmrc", "containment/outside", "commands/unresolved"]) {
      expect(patternsFor({ ...facts, rules: [rule] }, place)).toEqual([]);
      expect(patternsFor({ ...facts, rules: [...facts.rules, rule] }, place)).toEqual([]);
    }
    expect(patternsFor({ ...facts, verdict: "deny" }, place)).toEqual([]);
    expect(patternsFor({ ...facts, risk: "high" }, place)).toEqual([]);
  });

  it("of files holds for one directory, one ending and one operation", () => {
    const pattern = onlyPattern(write("src/a.ts"));
    expect(pattern.text).toBe("Edit src/*.ts (update)");
    expect(covers(pattern, write("src/b.ts"), place)).toBe(true);
    for (const other of ["src/b.js", "src/below/b.ts", "lib/b.ts", "b.ts", "src/.b.ts", "src/vite.config.ts"]) {
      expect([other, covers(pattern, write(other), place)]).toEqual([other, false]);
    }
    expect(covers(pattern, write("src/b.ts", { operation: "create" }), place)).toBe(false);
    expect(covers(pattern, write("src/b.ts", { rule: "rules/project/2" }), place)).toBe(false);
    expect(patternsFor(write("package.json"), place)).toEqual([]);
  });

  it("of one rule covers nothing that another rule file's rule asks about, too", async () => {
    const pattern = onlyPattern(write("src/a.ts"));
    const first = { code: "rule_asks", rule: "rules/project/1", reason: "Look." };
    const both = ask({ ...first, alongside: ["rules/user/7"] });
    const { shape } = write("src/b.ts");
    const analysis = {
      statement: "Edit src/b.ts",
      effects: [
        {
          type: "write",
          operation: "update",
          path: { raw: "src/b.ts", relative: "src/b.ts", absolute: "/ws/src/b.ts", inside: true },
          base: undefined,
          current: undefined,
        } as const,
      ],
    };
    const fired = [{ policy: "rules", verdict: both }];
    const facts = actionFacts({ callId: "c", tool: "Edit", analysis, verdict: both, fired, risk: "medium" });
    expect(facts.shape).toEqual(shape);
    expect(covers(pattern, facts, place)).toBe(false);
  });

  it("is run dry against the session and against examples made from it", () => {
    const pattern = onlyPattern(shell("rm src/a.ts"));
    const earlier = [shell("rm src/old.ts"), shell("rm lib/old.ts"), shell("touch src/x.ts")];
    const { matchedBefore, wouldMatch, wouldNotMatch } = offeredPattern(pattern, earlier);
    expect(matchedBefore).toEqual(["Run rm src/old.ts"]);
    expect(wouldMatch).toEqual(["rm src/other.ts"]);
    expect(wouldNotMatch).toContain("rm elsewhere/other.other");
    expect(wouldNotMatch).toContain("rm src/other.ts && rm");
    for (const command of wouldMatch) expect(covers(pattern, shell(command), place)).toBe(true);
    for (const command of wouldNotMatch) expect(covers(pattern, shell(command), place)).toBe(false);
  });
});

const commands = [
  "rm src/a.ts",
  "rm -f src/a.ts",
  "touch src/a.ts",
  "git add src/a.ts",
  "git commit -m 'some words'",
] as const;
const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const files = name.map((word) => `src/${word}.ts`);

/** Commands that a pattern for `rm src/a.ts` covers, by construction. */
const covered = fc
  .constantFrom(...commands)
  .chain((command) =>
    command.includes("'")
      ? name.map((word) => command.replace("some words", `other ${word}`))
      : files.map((file) => command.replace("src/a.ts", file)),
  );

describe("a remembered pattern", () => {
  it("covers what differs in the operand only", () => {
    fc.assert(
      fc.property(covered, (command) =>
        commands.some((asked) => covers(onlyPattern(shell(asked)), shell(command), place)),
      ),
    );
  });

  it.each([
    ["an operator", [" && true", "; true", " | cat", " || true", " &", "\ntrue"]],
    ["a redirect", [" > out", " >> src/x.ts", " 2>&1", " < in", " > .git/config"]],
    ["a substitution", [" $(id)", " `id`", " <(id)", " ${HOME}", " $HOME"]],
    ["a glob, brace or tilde", [" *", " src/{a,b}.ts", " ~/x.ts", " src/?.ts", " [a].ts"]],
    ["another operand or option", [" src/b.ts", " -r", " --", " ../x.ts", " /etc/x.ts", " .env"]],
    ["a comment or an escape", [" # x", " \\", ' "$x"']],
  ])("never covers a command with %s", (_what, tails) => {
    fc.assert(
      fc.property(covered, fc.constantFrom(...tails), (command, tail) => {
        for (const asked of commands)
          expect(covers(onlyPattern(shell(asked)), shell(command + tail), place)).toBe(false);
      }),
    );
  });

  it("never covers a command in a wrapper", () => {
    const wrappers = ["sudo", "env", "env A=1", "A=1", "nice", "timeout 9", "xargs", "command", "exec", "nohup", "!"];
    fc.assert(
      fc.property(covered, fc.constantFrom(...wrappers), (command, wrapper) => {
        for (const each of [`${wrapper} ${command}`, `bash -c "${command}"`, `(${command})`, `{ ${command}; }`]) {
          for (const asked of commands) expect(covers(onlyPattern(shell(asked)), shell(each), place)).toBe(false);
        }
      }),
    );
  });

  it("never covers another class of operand, whatever its text", () => {
    const plain = /^[A-Za-z0-9_@][A-Za-z0-9_@+.-]*$/;
    const pattern = onlyPattern(shell("rm src/a.ts"));
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 30 }), (operand) => {
        const [directory, file = "", ...rest] = operand.split("/");
        const inClass = directory === "src" && rest.length === 0 && file.endsWith(".ts") && plain.test(file);
        if (!inClass) expect(covers(pattern, shell(`rm ${operand}`), place)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("covers nothing under other rules, at a higher risk, elsewhere, or after a change of the rules", () => {
    const pattern = onlyPattern(shell("rm src/a.ts"));
    const same = shell("rm src/b.ts");
    expect(covers(pattern, same, place)).toBe(true);
    const risks: readonly Risk[] = ["high"];
    for (const risk of risks) expect(covers(pattern, { ...same, risk }, place)).toBe(false);
    expect(covers({ ...pattern, risk: "low" }, same, place)).toBe(false);
    expect(covers(pattern, { ...same, rules: [...same.rules, "rules/project/1"] }, place)).toBe(false);
    expect(covers(pattern, { ...same, rules: ["rules/project/1"] }, place)).toBe(false);
    expect(covers(pattern, { ...same, tool: "RunInTerminal" }, place)).toBe(false);
    expect(covers(pattern, { ...same, verdict: deny({ code: "x", rule: "y", reason: "z" }).type }, place)).toBe(false);
    for (const other of [{ sessionId: "t" }, { policySha256: "q" }, { isolation: "sandboxed" }]) {
      expect(covers(pattern, same, { ...place, ...other })).toBe(false);
    }
  });
});
