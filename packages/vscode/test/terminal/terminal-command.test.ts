import { expect, test } from "vitest";
import { checkTerminalCommand, typedCommand } from "../../src/terminal/terminal-command.ts";

test.each([
  ...["", "  ", "a\nb", "a\r", "a\u0003", "a\u001b[A", "a\tb", "a\u0085", "a\u2028b", "a\u202eb", "a\u200bb"],
  "x".repeat(4001),
])("%j is refused", (command) => {
  expect(() => checkTerminalCommand(command)).toThrowError(expect.objectContaining({ code: "bad_command" }));
});

test.each([
  ["ls -l", "ls -l"],
  ["./run.sh", "./run.sh"],
  ["~/bin/x", "~/bin/x"],
  ['"$HOME/x" y', '"$HOME/x" y'],
  ["X=1 make", "X=1 make"],
  ["[ -e a ]", "[ -e a ]"],
  ["iffy", "iffy"],
  ["(exit 3)", ": ; (exit 3)"],
  [" (a)", ": ;  (a)"],
  ["{ a; }", ": ; { a; }"],
  ["! a", ": ; ! a"],
  ["# note", ": ; # note"],
  ["if a; then b; fi", ": ; if a; then b; fi"],
  ["time a", ": ; time a"],
  ["f() { a; }; f", ": ; f() { a; }; f"],
  ["f ( ) { a; }; f", ": ; f ( ) { a; }; f"],
])("%s is typed as %s", (command, typed) => {
  expect(() => checkTerminalCommand(command)).not.toThrow();
  expect(typedCommand(command)).toBe(typed);
});
