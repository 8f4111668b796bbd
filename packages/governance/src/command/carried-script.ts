import { gitParts } from "./dangers/git-dangers.ts";
import type { InterpretContext } from "./interpret-command.ts";
import type { Invocation } from "./invocation.ts";
import { judgeVariable } from "./judge-variable.ts";

/** Builtins and programs that carry a script in their words or on their input. True when there is nothing left to say. */
export function carriedScript(invocation: Invocation, context: InterpretContext): boolean {
  const { report } = context;
  const { name, words, input } = invocation;
  const run = (text: string | undefined) => {
    if (text === undefined) report.unresolved("a script that is not known before it runs");
    else context.runScript(text, invocation.directories, name);
  };
  switch (name) {
    case "eval": {
      report.unresolved("eval");
      const texts = words.map((word) => word.literal);
      if (texts.every((text) => text !== undefined)) run(texts.join(" "));
      return true;
    }
    case "source":
    case ".":
      report.unresolved("a sourced script");
      for (const word of words.slice(0, 1)) report.path(word, "read", invocation);
      if (input.text !== undefined) run(input.text);
      return true;
    case "trap": {
      const script = words.find((word) => !(word.literal ?? "x").startsWith("-"));
      if (script !== undefined && words.length > 1) run(script.literal);
      return true;
    }
    case "alias":
      report.unresolved("an alias");
      for (const word of words) {
        const text = word.literal ?? "";
        context.scope.functions.add(text.split("=", 1)[0] ?? "");
        if (text.includes("=")) run(text.slice(text.indexOf("=") + 1));
      }
      return true;
    case "export":
    case "declare":
    case "typeset":
    case "readonly":
    case "local":
      for (const word of words) {
        const text = word.literal ?? word.raw;
        const [variable = ""] = text.split("=", 1);
        if (!text.startsWith("-") && text.includes("="))
          judgeVariable(variable, word.literal?.slice(variable.length + 1), report);
      }
      return true;
    case "enable":
    case "shopt":
    case "hash":
    case "unset":
    case "unalias":
      if (name === "enable" && words.some((word) => word.literal === "-f"))
        report.unresolved("a builtin loaded from a file");
      return true;
    case "make":
      // Its targets stand at the beginning of a line.
      if (input.text !== undefined) run(input.text.replace(/^[\w.-]+:.*$/gm, ":").replace(/^\t[@-]*/gm, ""));
      return false;
    case "git": {
      const parts = gitParts(invocation);
      for (const { option, word } of parts.values) {
        const alias = /^alias\.[^=]+=!(.*)$/s.exec(word.literal ?? "");
        if (option === "-c" && alias?.[1] !== undefined) run(alias[1]);
      }
      return false;
    }
    default:
      return false;
  }
}
