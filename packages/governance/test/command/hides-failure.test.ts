import { expect, test } from "vitest";
import { analyseCommand } from "../../src/command/analyse-command.ts";
import { hidesFailure } from "../../src/command/hides-failure.ts";

test.each([
  "npm install x 2>&1 | tail -5",
  "npm install x || true",
  "npm install x; ls",
  "npm install x\nls",
  "cd a && npm install x | tail",
  "npm install x > log 2>&1; cat log",
  "(npm install x; true)",
  "bash -c 'npm install x; true'",
  "npm install x & wait",
  "if npm install x; then ls; fi",
  "echo $(npm view x version)",
  "! npm install x",
])("exit code 0 of `%s` does not tell that all succeeded", (text) => {
  expect(hidesFailure(analyseCommand(text, { cwd: "/work", home: "/home/user" }))).toBe(true);
});

test.each(["npm install x", "cd a && npm install x 2>&1", "timeout 60 npm test && ls", "sh -c 'npm test && ls'"])(
  "exit code 0 of `%s` tells it",
  (text) => {
    expect(hidesFailure(analyseCommand(text, { cwd: "/work", home: "/home/user" }))).toBe(false);
  },
);
