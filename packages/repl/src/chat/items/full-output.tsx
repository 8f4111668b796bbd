import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { useState } from "preact/hooks";
import { failureOf } from "../../look/failure.ts";
import { useChat } from "../chat-context.ts";
import { sizeWords } from "../words.ts";

/** Most characters that are shown: a longer text makes the page slow. */
const shownCharacters = 400_000;

/** An output that is too large for its event; fetched when the reader asks, and shown in an editor where there is one. */
export function FullOutput({ blob }: { readonly blob: BlobRef }) {
  const { control } = useChat();
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState("");
  const load = async () => {
    try {
      const bytes = await control.followed.value?.session.blob(blob.sha256, { signal: AbortSignal.timeout(30_000) });
      const whole = new TextDecoder().decode(bytes);
      if (control.host.openText === undefined) setText(whole);
      else await control.host.openText({ title: "output.txt", text: whole, kind: "text" });
      setProblem("");
    } catch (error) {
      setProblem(failureOf(error).message);
    }
  };
  if (text !== undefined) {
    return (
      <>
        <pre class="output output-full" tabIndex={0}>
          {text.slice(0, shownCharacters)}
        </pre>
        {text.length > shownCharacters && <p class="quiet">Only the beginning is shown.</p>}
      </>
    );
  }
  return (
    <p>
      <button type="button" class="link" onClick={() => void load()}>
        Show all ({sizeWords(blob.size)})
      </button>
      {problem !== "" && <span class="tone-bad"> {problem}</span>}
    </p>
  );
}
