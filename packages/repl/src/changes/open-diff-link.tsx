import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { useChat } from "../chat/chat-context.ts";

/** Shows a change in the editor's own diff; nothing if there is no editor. */
export function OpenDiffLink({ file }: { readonly file: AppliedFile }) {
  const { control, attemptsId } = useChat();
  const { host, failure } = control;
  const { openChange } = host;
  if (openChange === undefined) return null;
  return (
    <button
      type="button"
      class="link open-diff"
      aria-label={`Open diff of ${file.path}`}
      onClick={() => {
        const { path, beforeSha256, afterSha256 } = file;
        openChange({ path, beforeSha256, afterSha256, attemptsId }).catch((error: unknown) =>
          failure.failed("The diff could not be opened", error),
        );
      }}
    >
      Open diff
    </button>
  );
}
