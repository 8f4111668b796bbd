import { commandUsage, slashCommands } from "@gennai/client/commands/slash-commands";
import type { ReplControl } from "../control/repl-control.ts";
import type { CompletionSource } from "./completion.tsx";
import { slashPlace } from "./slash-place.ts";

/** Completes the `/` at the beginning of a prompt with commands. */
export function slashCompletion(control: ReplControl): CompletionSource {
  return (text, caret) => {
    const typed = /^\/([\w.-]*)$/.exec(text.slice(0, caret))?.[1]?.toLowerCase();
    if (typed === undefined) return undefined;
    const behind = text.slice(caret).replace(/^[\w.-]+/, "");
    const found = slashCommands(slashPlace(control)).filter(({ name }) => name.startsWith(typed));
    return Promise.resolve(
      found.map((command) => {
        const { name, argument, description } = command;
        const before = argument === "" || /^\s/.test(behind) ? `/${name}` : `/${name} `;
        return {
          name: commandUsage(command),
          detail: description,
          icon: "chevron",
          done: { text: before + behind, caret: before.length },
          goesOn: false,
        };
      }),
    );
  };
}
