import { plural } from "@gennai/protocol/plural";
import { useChat } from "../chat/chat-context.ts";
import { VisibleText } from "../look/visible-text.tsx";

/** Most lines and characters of a folded command. */
const most = { lines: 8, characters: 600 };

/** The command of a call on lines of its own, wrapped and never cut at its side. The end of a long one is shown on demand. */
export function CommandText({ command, id }: { readonly command: string; readonly id: string }) {
  const isOpen = useChat().folds.of(`command:${id}`, false);
  const beginning = command.split("\n").slice(0, most.lines).join("\n").slice(0, most.characters);
  const isLong = beginning.length < command.length;
  return (
    <>
      <pre class="command-text" aria-label="Command">
        <VisibleText text={isOpen.value ? command : beginning} />
        {isLong && !isOpen.value && "…"}
      </pre>
      {isLong && (
        <button
          type="button"
          class="link command-fold"
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          {isOpen.value ? "Show less" : `Show all (${sizeOf(command)})`}
        </button>
      )}
    </>
  );
}

function sizeOf(command: string): string {
  const lines = command.split("\n").length;
  return lines > 1 ? plural(lines, "line") : `${command.length.toLocaleString("en")} characters`;
}
