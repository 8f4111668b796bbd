import { expect, test, vi } from "vitest";
import { testFailureText } from "../../src/commands/add-commands.ts";

const { Uri, Range } = vi.hoisted(() => {
  class Uri {
    readonly fsPath: string;
    constructor(fsPath: string) {
      this.fsPath = fsPath;
    }
  }
  class Range {
    readonly start: { readonly line: number };
    constructor(line: number) {
      this.start = { line };
    }
  }
  return { Uri, Range };
});
vi.mock("vscode", () => ({ Uri, Range }));

const nameOf = ({ fsPath }: { readonly fsPath: string }) =>
  fsPath.startsWith("/w/") ? fsPath.slice("/w/".length) : undefined;

test("a failed test: where, what was said, and what was expected", () => {
  const message = {
    message: { value: "values differ" },
    expectedOutput: "2",
    actualOutput: "3",
    location: { uri: new Uri("/w/test/a.test.ts"), range: new Range(8) },
  };
  expect(testFailureText({ test: { label: "adds" }, message }, nameOf)).toEqual({
    title: "Failed test adds",
    text: "At test/a.test.ts:9\n\nvalues differ\n\nExpected:\n2\n\nActual:\n3",
  });
});

test("a file outside of the workspace is not named", () => {
  const message = { message: "no", location: { uri: new Uri("/elsewhere/x.ts"), range: new Range(1) } };
  expect(testFailureText({ message }, nameOf)).toEqual({ title: "Failed test", text: "no" });
});

test.each([[undefined], [null], ["text"], [{}], [{ message: { message: 1 } }]])("%j is not a failure", (shown) => {
  expect(testFailureText(shown, nameOf)).toBeUndefined();
});
