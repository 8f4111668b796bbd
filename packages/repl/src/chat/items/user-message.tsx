import type { UserMessageItem } from "@gennai/client/view/items/view-item";
import { useState } from "preact/hooks";
import { useChat } from "../chat-context.ts";
import { BlobImage } from "./blob-image.tsx";

interface UserMessageProps {
  readonly item: UserMessageItem;
  readonly turnId: string;
  readonly seq: bigint;
}

/** A message of the user, and the ways to send it again. */
export function UserMessage({ item, turnId, seq }: UserMessageProps) {
  const { control } = useChat();
  const [asked, setAsked] = useState<"retry" | "edit">();
  const idle = control.turns.progress.value === "idle";
  const again = (how: "retry" | "edit") => {
    setAsked(undefined);
    void control.sessions.sayAgain({ item, turnId, seq }, how);
  };
  return (
    <div class="user-message">
      <span class="spoken">You:</span>
      {userParts(item.text).map(({ title, text }, index) =>
        title === undefined ? (
          <div key={index} class="user-text">
            {text}
          </div>
        ) : (
          <details key={index} class="user-attached">
            <summary>{title === "" ? "Attached" : title}</summary>
            <pre class="output" tabIndex={0}>
              {text}
            </pre>
          </details>
        ),
      )}
      {item.images.length > 0 && (
        <div class="pictures">
          {item.images.map((blob, index) => (
            <BlobImage key={blob.sha256} blob={blob} label={`Picture ${index + 1}`} />
          ))}
        </div>
      )}
      {idle && asked === undefined && (
        <div class="user-tools">
          <button type="button" class="link" onClick={() => setAsked("retry")}>
            Retry
          </button>
          <button type="button" class="link" onClick={() => setAsked("edit")}>
            Edit
          </button>
        </div>
      )}
      {idle && asked !== undefined && (
        <div class="user-again" role="group" aria-label={asked === "retry" ? "Retry" : "Edit and send again"}>
          <p>
            Goes on in a copy of this session, from before this prompt. This session stays as it is. Files stay as they
            are now; to undo their changes, restore them first.
          </p>
          <button type="button" class="button" onClick={() => again(asked)}>
            {asked === "retry" ? "Retry in a copy" : "Edit in a copy"}
          </button>
          <button type="button" class="button button-quiet" onClick={() => void control.offerRestore(turnId)}>
            Restore files…
          </button>
          <button type="button" class="button button-quiet" onClick={() => setAsked(undefined)}>
            Cancel
          </button>
        </div>
      )}
    </div>
  );
}

interface UserPart {
  /** Of material; undefined for the user's own words. */
  readonly title: string | undefined;
  readonly text: string;
}

/** What the user wrote, and the material that went along: each text in a fence, with its title. */
function userParts(text: string): readonly UserPart[] {
  const parts = text.split(/^(~{3,})([^\n]*)\n([\s\S]*?)\n\1$/m);
  return parts.flatMap((part, index): readonly UserPart[] => {
    if (index % 4 === 0) return part.trim() === "" ? [] : [{ title: undefined, text: part.trim() }];
    return index % 4 === 3 ? [{ title: parts[index - 1]?.trim() ?? "", text: part }] : [];
  });
}
