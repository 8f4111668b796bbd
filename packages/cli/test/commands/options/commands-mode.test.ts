import { expect, test } from "vitest";
import { commandsMode } from "#commands/options/option-values";

test.each([
  [{}, "auto"],
  [{ commands: "staged" }, "staged"],
  [{ commands: "ask" }, "ask"],
  [{ sandbox: "required" }, "staged"],
  [{ stages: "required", sandbox: "auto" }, "staged"],
  [{ sandbox: "off", stages: "off" }, "ask"],
  [{ stages: "off", commands: "ask" }, "ask"],
] as const)("%j runs commands as %s", (flags, mode) => {
  expect(commandsMode(flags)).toBe(mode);
});

test.each([
  [{ commands: "required" }, /no --commands "required"/],
  [{ sandbox: "staged" }, /no --sandbox "staged"/],
  [{ stages: "constructor" }, /no --stages "constructor"/],
  [{ sandbox: "required", stages: "off" }, /and that they are not/],
  [{ commands: "ask", sandbox: "required" }, /and that they are not/],
])("%j is a usage error", (flags, message) => {
  expect(() => commandsMode(flags)).toThrow(message);
});
