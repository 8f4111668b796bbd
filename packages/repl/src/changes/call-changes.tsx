import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { useChat } from "../chat/chat-context.ts";
import { firstChangedLine } from "../review/file-diff.ts";
import { ChangedFileDiff } from "./changed-file-diff.tsx";
import { ChangedFiles } from "./changed-files.tsx";
import { LeftToday } from "./left-today.tsx";
import { LineCounts } from "./line-counts.tsx";
import { OpenDiffLink } from "./open-diff-link.tsx";
import { PlaceLink } from "./place-link.tsx";
import { useChangedContent } from "./use-changed-content.ts";

interface CallChangesProps {
  readonly files: readonly AppliedFile[];
  /** The path that the card already shows; empty if it shows none. */
  readonly named: string;
  /** Key under which it is remembered what is unfolded. */
  readonly id: string;
  readonly turnId: string;
  readonly callId: string;
}

/** Up to this many files, the lines of all are shown at once. */
const openUpTo = 3;

/** What a call really changed, as the server found it: the lines of the file that its card names, or a list of files. */
export function CallChanges({ files, named, id, turnId, callId }: CallChangesProps) {
  const { control } = useChat();
  const [only] = files;
  if (only === undefined) return null;
  return (
    <div class="call-changes">
      {files.length === 1 && named.endsWith(only.path) ? (
        <OneFile file={only} id={id} />
      ) : (
        <ChangedFiles files={files} id={id} open={files.length <= openUpTo} />
      )}
      {control.details.value && <LeftToday turnId={turnId} callId={callId} />}
    </div>
  );
}

function OneFile({ file, id }: { readonly file: AppliedFile; readonly id: string }) {
  const content = useChangedContent(file, true);
  return (
    <>
      <div class="change-facts">
        {content.type === "text" && <LineCounts added={content.diff.added} removed={content.diff.removed} />}
        {content.type === "text" && file.operation !== "delete" && (
          <PlaceLink path={file.path} line={firstChangedLine(content.diff)} />
        )}
        <OpenDiffLink file={file} />
      </div>
      <ChangedFileDiff file={file} content={content} id={id} />
    </>
  );
}
