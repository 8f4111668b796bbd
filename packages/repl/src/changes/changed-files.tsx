import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { renamedFiles } from "@gennai/protocol/whole-moves";
import { useChat } from "../chat/chat-context.ts";
import { FoldButton } from "../chat/fold-button.tsx";
import { RenamedFrom } from "../look/renamed-from.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { ChangedFileDiff } from "./changed-file-diff.tsx";
import { LineCounts } from "./line-counts.tsx";
import { OpenDiffLink } from "./open-diff-link.tsx";
import { OperationMark } from "./operation-mark.tsx";
import { useChangedContent } from "./use-changed-content.ts";

interface ChangedFilesProps {
  readonly files: readonly AppliedFile[];
  /** Key under which it is remembered what is unfolded. */
  readonly id: string;
  /** True to show their lines until the reader closes them. */
  readonly open: boolean;
}

/** Files that are listed, with counted lines, until the reader asks for all. */
const listedFirst = 10;

/** Changed files, each with its lines folded below it; a renamed one once. */
export function ChangedFiles({ files, id, open }: ChangedFilesProps) {
  const all = useChat().folds.of(`files:${id}`, false);
  const renamed = renamedFiles(files);
  const former = new Set(renamed.values());
  const shown = files.filter((file) => !former.has(file));
  const listed = all.value ? shown : shown.slice(0, listedFirst);
  return (
    <>
      <ul class="changed-files">
        {listed.map((file, index) => {
          const from = renamed.get(file)?.path;
          return from === undefined ? (
            <ChangedFile
              key={file.path}
              file={file}
              id={`${id}:${file.path}`}
              open={open}
              counted={index < listedFirst}
            />
          ) : (
            <li key={file.path} class="changed-file changed-file-head">
              <OperationMark operation="rename" />
              <VisibleText in="span" class="file-path" text={file.path} />
              <RenamedFrom path={from} />
            </li>
          );
        })}
      </ul>
      {listed.length < shown.length && (
        <button
          type="button"
          class="link change-more"
          onClick={() => {
            all.value = true;
          }}
        >
          Show {plural(shown.length - listed.length, "more file")}
        </button>
      )}
    </>
  );
}

interface ChangedFileProps {
  readonly file: AppliedFile;
  /** Key under which it is remembered what is unfolded. */
  readonly id: string;
  /** True to show its lines until the reader closes them. */
  readonly open: boolean;
  /** True to count its lines even while it is closed. */
  readonly counted: boolean;
}

/** A changed file with its lines folded below it, and a link to the editor's own diff if there is an editor. */
function ChangedFile({ file, id, open, counted }: ChangedFileProps) {
  const { folds } = useChat();
  const isOpen = folds.of(`diff:${id}`, open);
  const content = useChangedContent(file, counted || isOpen.value);
  const { path } = file;
  return (
    <li class="changed-file">
      <div class="changed-file-head">
        <FoldButton class="changed-file-fold" open={isOpen}>
          <OperationMark operation={file.operation} />
          <VisibleText in="span" class="file-path" text={path} />
          {content.type === "text" && <LineCounts added={content.diff.added} removed={content.diff.removed} />}
        </FoldButton>
        <OpenDiffLink file={file} />
      </div>
      {isOpen.value && <ChangedFileDiff file={file} content={content} id={id} />}
    </li>
  );
}
