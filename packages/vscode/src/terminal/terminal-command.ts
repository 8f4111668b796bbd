import { EditorError } from "../editor/editor-error.ts";

/** Characters. */
const longest = 4000;

/** Refuses what would not arrive at a shell as it was approved. Throws `EditorError` (`bad_command`). */
export function checkTerminalCommand(command: string): void {
  if (command.trim() === "") throw refused("The command is empty.", "Send a command.");
  // A newline is Enter, and control characters are keys: the shell would get something else than what was approved.
  if (/[\p{Cc}\u2028\u2029]/u.test(command)) {
    throw refused(
      "A command for the terminal is one line without control characters.",
      "Join lines with && or ;, or write a script file and run that.",
    );
  }
  if (command.length > longest) {
    throw refused(`The command is longer than ${longest} characters.`, "Write a script file and run that.");
  }
  // What is approved by reading must be all there is.
  if (/\p{Cf}/u.test(command)) {
    throw refused("The command holds characters nobody can see.", "Leave them out.");
  }
}

/**
 * What is typed for a command. bash tells what it runs only when that begins with a simple command: a subshell, a condition or
 * a definition gets one in front that does nothing, or nobody would see how it ended.
 */
export function typedCommand(command: string): string {
  const plain = command.trimStart();
  return /^[\w./~"'$\\[-]/.test(plain) && !compound.test(plain) ? command : `: ; ${command}`;
}

/** What begins like a word and is not a simple command. */
const compound = /^(?:(?:if|while|until|for|case|select|function|time|coproc)\b|[\w.-]+\s*\()/;

function refused(what: string, next: string): EditorError {
  return new EditorError("bad_command", what, next);
}
