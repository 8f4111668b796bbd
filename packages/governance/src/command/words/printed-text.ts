import type { SyntaxNode } from "unbash";
import { programName } from "./invocation.ts";
import { literalWord, resolveWord } from "./resolve-word.ts";
import type { ShellScope } from "./shell-scope.ts";

/** The output of a command that only prints its own words or its here-document. */
export function printedText(node: SyntaxNode, scope: ShellScope): string | undefined {
  if (node.type !== "Command" || node.name === undefined) return undefined;
  const name = programName(node.name.value);
  if (name === "cat" && node.args.length === 0) {
    const last = node.redirects.at(-1);
    if (last?.type === "HereDoc") return last.body.text;
    return last?.type === "HereString" && last.target !== undefined
      ? resolveWord(last.target, scope)[0]?.literal
      : undefined;
  }
  if (name !== "echo" && name !== "printf") return undefined;
  const words = node.args.flatMap((word) =>
    word.type === "Word" ? resolveWord(word, scope) : [literalWord(word.text)],
  );
  if (words.some((word) => word.literal === undefined)) return undefined;
  const texts = words.map((word) => word.literal ?? "");
  if (name === "echo") {
    while (/^-[neE]+$/.test(texts[0] ?? "")) texts.shift();
    return unescape(texts.join(" "));
  }
  const [format = "", ...rest] = texts[0] === "--" ? texts.slice(1) : texts;
  if (!format.includes("%")) return unescape(format);
  return /^(?:%[sb](?:\\n|\s)?)+$/.test(format) ? rest.join("\n") : undefined;
}

function unescape(text: string): string {
  return text
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\x([0-9a-fA-F]{1,2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\0?([0-7]{1,3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
