import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePattern, matchesEverything, PatternError } from "#rules/compile/compile-pattern";

const linear: readonly (readonly [pattern: string, matches: readonly string[], not: readonly string[]])[] = [
  ["\\brm\\s+(-[^\\s]*)*-[rRf]", ["rm -rf x", "rm -f x"], ["rm x", "farm -r"]],
  ["(?i)\\bdrop\\s+table\\b", ["DROP TABLE x"], ["dropped tables"]],
  ["(?P<verb>push|pull)", ["git push"], ["git fetch"]],
  ["\\Agit(?#the program)\\Z", ["git"], ["git x"]],
  ["(a+)+$", ["aaa"], ["aab"]],
  [":\\(\\)\\s*\\{\\s*:\\s*\\|\\s*:\\s*&\\s*\\}\\s*;\\s*:", [":(){ :|:& };:"], ["echo"]],
  ["\\brm\\b", ["rm", "é rm é"], ["rmdir"]],
];

/** As the programs match that rule files in the wild were written for; `(?-i)` keeps to the case. */
const cases: readonly (readonly [pattern: string, text: string, wanted: boolean])[] = [
  ["\\bdrop\\s+table\\b", "DROP TABLE users", true],
  ["\\bDELETE\\s+FROM\\b", "delete from users", true],
  ["git\\s+push\\s+--force(?!-with-lease)", "GIT PUSH --FORCE", true],
  ["(?-i)git branch -D", "git branch -d x", false],
  ["(?-i)git branch -D", "git branch -D x", true],
  ["(?-i)git branch -D(?!x)", "git branch -d y", false],
  ["(?-i)git branch -D(?!x)", "git branch -D y", true],
  ["(?s-i)A.B(?!C)", "a\nb", false],
];

test.each(cases)("%s and %j: %s", (pattern, text, wanted) => {
  const compiled = compilePattern(pattern);
  if (compiled.type === "linear") expect(compiled.test(text)).toBe(wanted);
  else {
    const { source, flags } = compiled.expression;
    expect(new RegExp(source, flags).test(text)).toBe(wanted);
    if (wanted) expect(compiled.mayMatch(text)).toBe(true);
  }
});

test.each(linear)("%s is linear", (pattern, matches, not) => {
  const compiled = compilePattern(pattern);
  if (compiled.type !== "linear") throw new Error("should be linear");
  expect(matches.filter((text) => !compiled.test(text))).toEqual([]);
  expect(not.filter((text) => compiled.test(text))).toEqual([]);
});

test("nested quantifiers take linear time", () => {
  const compiled = compilePattern("(a+)+$");
  const started = process.cpuUsage();
  expect(compiled.type === "linear" && compiled.test(`${"a".repeat(20_000)}b`)).toBe(false);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(2_000);
});

const slow = [
  ...["\\bgit\\s+push\\s+.*--force(?!-with-lease)", "(?=.*x)y", "(?<!no-)rm", "(a|b)\\1", "(?P<q>['\"]).*(?P=q)"],
  "(?i)push(?!ed)",
];

test.each(slow)("%s is slow, and its weaker form matches wherever it does", (pattern) => {
  const compiled = compilePattern(pattern);
  if (compiled.type !== "slow") throw new Error("should be slow");
  const whole = new RegExp(compiled.expression.source, compiled.expression.flags);
  const text = fc.array(
    fc.constantFrom("git ", "push ", "PUSH", "ed", "--force", "-with-lease", "x", "y", "no-", "rm", "a", "b", "'", '"'),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(text, (pieces) => {
      const joined = pieces.join("");
      if (whole.test(joined)) expect(compiled.mayMatch(joined)).toBe(true);
    }),
  );
});

test("the weaker form rules out most commands", () => {
  const compiled = compilePattern("\\bgit\\s+push\\s+.*--force(?!-with-lease)");
  expect(compiled.type === "slow" && compiled.mayMatch("git status")).toBe(false);
});

test.each([
  ["(", /is not a regular expression/],
  ["[z-a]", /is not a regular expression/],
  ["*x", /is not a regular expression/],
  ["(?>a)b", /atomic groups/],
  ["a++b", /possessive/],
  ["(?x) a b", /free-spacing/],
])("%s is reported", (pattern, message) => {
  expect(() => compilePattern(pattern)).toThrow(PatternError);
  expect(() => compilePattern(pattern)).toThrow(message);
});

test.each([
  ["", true],
  [".*", true],
  ["x?", true],
  ["rm", false],
])("%j matches everything: %s", (pattern, wanted) => {
  expect(matchesEverything(compilePattern(pattern))).toBe(wanted);
});
