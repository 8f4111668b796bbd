import { useChat } from "../chat/chat-context.ts";
import { CopyButton } from "../look/copy-button.tsx";

interface PlaceLinkProps {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly lines?: number;
}

/** A place in a file: opens it in the editor; without an editor, the place can be copied. */
export function PlaceLink({ path, line, lines = 1 }: PlaceLinkProps) {
  const { host, failure } = useChat().control;
  const { openFile } = host;
  const place = `${path}:${line}${lines > 1 ? `-${line + lines - 1}` : ""}`;
  if (openFile === undefined) {
    return (
      <span class="place">
        <code>{place}</code> <CopyButton look="link" text={`${path}:${line}`} label="Copy" />
      </span>
    );
  }
  return (
    <button
      type="button"
      class="link place"
      onClick={() => {
        openFile({ path, line }).catch((error: unknown) => failure.failed("The file could not be opened", error));
      }}
    >
      {place}
    </button>
  );
}
