import { expect, test } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import { isWorthAsking } from "#network/worth-asking";

test.each<[command: string, host: string, exitCode: number | undefined, isAsked: boolean]>([
  ["npm install x", "registry.npmjs.org", 1, true],
  // A dependency that may be missing was left out.
  ["npm install x", "registry.npmjs.org", 0, true],
  ["cd app && npm ci", "registry.npmjs.org", 0, true],
  ["npm install x | tail", "corp.example", 0, true],
  ["python3 -m pip index versions x", "pypi.org", 0, true],
  ["npm install x", "telemetry.example", 0, false],
  ["npm test", "registry.npmjs.org", 0, false],
  ["npm test", "registry.npmjs.org", undefined, true],
  ["node build.mjs", "telemetry.example", 0, false],
  ["node get.mjs http://Data.example/", "data.example", 0, true],
])("%s that was refused %s and ended with %s is asked about: %s", (text, host, exitCode, isAsked) => {
  const command = analyseCommand(text, { cwd: "/w", home: "/h" });
  expect(isWorthAsking(command, [{ host, port: 443 }], exitCode)).toBe(isAsked);
  expect(isWorthAsking(command, [], exitCode)).toBe(false);
});
