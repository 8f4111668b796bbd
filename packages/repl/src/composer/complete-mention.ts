import { canMention, completeMention, mentionAt, namedMentions } from "@gennai/client/session/text/mentions";
import type { ReplControl } from "../control/repl-control.ts";
import type { CompletionOption, CompletionSource } from "./completion.tsx";

/** Milliseconds without typing before the server is asked. */
const quiet = 80;
const shown = 8;

/** Paths that complete the `@` that is being typed. The server knows which exist and which the agent may have. */
export function mentionCompletion(control: ReplControl): CompletionSource {
  return (text, caret, signal) => {
    const mention = mentionAt(text, caret);
    if (mention === undefined) return undefined;
    const option = (path: string): CompletionOption => ({
      name: path,
      detail: "",
      icon: path.endsWith("/") ? "chevron" : "file",
      done: completeMention(text, caret, mention, path),
      goesOn: path.endsWith("/"),
    });
    const ask = async () => {
      await new Promise((resolve) => setTimeout(resolve, quiet));
      signal.throwIfAborted();
      const sessionId = control.followed.value?.session.sessionId ?? "";
      const place = { sessionId, workingDir: control.host.launch.workspace ?? "" };
      const found = await control.agent.listPaths({ ...place, prefix: mention.prefix, limit: shown }, { signal });
      const named = namedMentions.filter((name) => name.startsWith(mention.prefix));
      return [...named, ...found.paths.filter(canMention)].slice(0, shown).map(option);
    };
    return ask();
  };
}
