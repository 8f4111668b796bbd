import { forEachChild, type SyntaxNode } from "unbash";
import type { AnalysisReport } from "./analysis-report.ts";
import { judgeVariable } from "./dangers/environment.ts";
import type { Invocation, Place } from "./words/invocation.ts";
import { expandPath } from "./words/resolve-path.ts";
import { literalWord } from "./words/resolve-word.ts";
import { assign, forget, mergeDirectories, type ShellScope } from "./words/shell-scope.ts";

const unknownDirectory = "a directory that is not known before it runs";

/** Builtins that change what follows: the directory and variables. */
export function changeScope(invocation: Invocation, scope: ShellScope, report: AnalysisReport, place: Place): void {
  const { name, words } = invocation;
  const literal = words.map((word) => word.literal);
  switch (name) {
    case "cd":
    case "pushd":
    case "popd": {
      const target = words.find((word) => !/^-[LPe@n]+$|^--$/.test(word.literal ?? ""));
      const to = target === undefined ? place.home : target.literal;
      if (name === "popd" || to === undefined || to === "-" || /^[+-]\d+$/.test(to) || scope.variables.has("CDPATH")) {
        report.unresolved(unknownDirectory);
        return;
      }
      const moved = scope.directories.map((directory) => expandPath(to, directory, place.home));
      for (const directory of moved) report.path(literalWord(directory), "list", invocation);
      // Deeper paths are unrealistic, and following them would take ever longer.
      if (moved.some((directory) => directory.length > 1024)) report.unresolved(unknownDirectory);
      else scope.directories = moved;
      return;
    }
    case "read":
    case "mapfile":
    case "readarray":
    case "getopts":
    case "unset":
    case "let":
      for (const text of literal) if (text !== undefined && /^[A-Za-z_]\w*$/.test(text)) forget(scope, text);
      return;
    case "printf":
      if (literal[0] === "-v" && literal[1] !== undefined) forget(scope, literal[1]);
      return;
    case "export":
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
      for (const { literal, raw } of words) {
        const [, variable, value] = /^([A-Za-z_]\w*)(?:\[.*\])?\+?=(.*)$/s.exec(literal ?? raw) ?? [];
        if (variable === undefined) continue;
        judgeVariable(variable, literal === undefined ? undefined : value, report);
        if (literal?.startsWith(`${variable}=`)) assign(scope, variable, value);
        else forget(scope, variable);
      }
  }
}

/** Runs `run` for code of which it is not certain that it runs, or that it runs once. */
export function conditionally(scope: ShellScope, body: SyntaxNode, run: () => void): void {
  const before = scope.directories;
  const conditional = scope.conditional;
  scope.conditional = true;
  // A loop runs again, and a function later: what is assigned in it may hold from its beginning.
  const look = (node: SyntaxNode): void => {
    if (node.type === "Assignment" && scope.variables.has(node.name)) forget(scope, node.name);
    if (
      node.type === "Command" &&
      node.name !== undefined &&
      /^(?:read|mapfile|readarray|printf|declare|export|local|typeset|unset|let|getopts)$/.test(node.name.value)
    ) {
      for (const word of node.args)
        if (word.type === "Word" && scope.variables.has(word.value)) forget(scope, word.value);
    }
    forEachChild(node, look);
  };
  look(body);
  run();
  scope.conditional = conditional;
  mergeDirectories(scope, before);
}
