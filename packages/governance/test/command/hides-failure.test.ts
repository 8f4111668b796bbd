import { expect, test } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import { hidesFailure } from "#command/hides-failure";

test.each([
  ["npm install x", false],
  ["npm install 'a|b;c' 2>&1", false],
  ["cd app && npm install x >log 2>&1 && ls", false],
  ["cd app && npm install x &>log", false],
  ["npm install x 2>&1 | tail -5", true],
  ["npm install x || true", true],
  ["npm install x; ls", true],
  ["npm install x\nls", true],
  ["npm install x & ls", true],
  ["echo $(npm view x)", true],
  ["diff <(npm view x) a", true],
  ["! npm install x", true],
  ["bash -c 'npm install x || ls'", true],
])("%j may hide a failure: %j", (command, expected) => {
  expect(hidesFailure(analyseCommand(command, { cwd: "/ws", home: "/home/dev" }))).toBe(expected);
});
