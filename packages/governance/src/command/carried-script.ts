import type { InterpretContext } from "./interpret-command.ts";
import type { Invocation } from "./words/invocation.ts";

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
    case "make":
      // Targets are at the beginning of a line.
      if (input.text !== undefined) run(input.text.replace(/^[\w.-]+:.*$/gm, ":").replace(/^\t[@-]*/gm, ""));
      return false;
    default:
      return false;
  }
}
