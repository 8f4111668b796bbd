import { EditorError } from "../editor/editor-error.ts";

/** Characters. */
const longest = 4000;

/** Refuses commands that would not arrive at a shell as they were approved. Throws `EditorError` (`bad_command`). */
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
  // The person who approves must see everything.
  if (/\p{Cf}/u.test(command)) {
    throw refused("The command holds characters nobody can see.", "Leave them out.");
  }
}

/**
 * The text that is typed for a command. bash reports what it runs only if that begins with a simple command. A subshell, a
 * condition or a definition gets one in front that does nothing, because otherwise its end would not be reported.
 */
export function typedCommand(command: string): string {
  const plain = command.trimStart();
  return /^[\w./~"'$\\[-]/.test(plain) && !compound.test(plain) ? command : `: ; ${command}`;
}

/** Begins like a word, but is not a simple command. */
const compound = /^(?:(?:if|while|until|for|case|select|function|time|coproc)\b|[\w.-]+\s*\()/;

function refused(what: string, next: string): EditorError {
  return new EditorError("bad_command", what, next);
}
