import { forEachChild, type SyntaxNode } from "unbash";

/** `:(){ :|:& };:` under any name. */
export function callsItself(body: SyntaxNode, name: string): boolean {
  let calls = 0;
  let multiplies = false;
  const look = (node: SyntaxNode): void => {
    if (node.type === "Command" && node.name?.value === name) calls += 1;
    if ((node.type === "Statement" && node.background) || (node.type === "Pipeline" && node.commands.length > 1))
      multiplies = true;
    forEachChild(node, look);
  };
  look(body);
  return calls > 1 || (calls > 0 && multiplies);
}
