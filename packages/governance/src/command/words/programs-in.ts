import { forEachChild, type SyntaxNode } from "unbash";
import { programName } from "./invocation.ts";

/** Names of all programs that a piece of the tree may start; behind a wrapper any plain word may be one. */
export function programsIn(node: SyntaxNode): readonly string[] {
  const found: string[] = [];
  const look = (child: SyntaxNode): void => {
    if (child.type === "Command" && child.name !== undefined) {
      found.push(programName(child.name.value));
      for (const argument of child.args) {
        if (argument.type === "Word" && /^[\w./-]+$/.test(argument.value)) found.push(programName(argument.value));
      }
    }
    forEachChild(child, look);
  };
  look(node);
  return found;
}
