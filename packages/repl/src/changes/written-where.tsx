import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { useChat } from "../chat/chat-context.ts";
import { CopyButton } from "../look/copy-button.tsx";

/** On which branch changes were written, and where a person can look at them next. */
export function WrittenWhere({ branch, files }: { readonly branch: string; readonly files: readonly AppliedFile[] }) {
  const { runHostCommand } = useChat().control.host;
  const command = files.some(({ operation }) => operation === "create") ? "git status" : "git diff";
  return (
    <p class="written-where">
      {branch !== "" && (
        <>
          On <code>{branch}</code>.{" "}
        </>
      )}
      {runHostCommand !== undefined ? (
        <>
          To keep it, commit it in{" "}
          <button type="button" class="link" onClick={() => void runHostCommand("openScm")}>
            Source Control
          </button>
          .
        </>
      ) : (
        branch !== "" && (
          <>
            To look at it in a terminal: <code>{command}</code> <CopyButton text={command} label={`Copy ${command}`} />
          </>
        )
      )}
    </p>
  );
}
