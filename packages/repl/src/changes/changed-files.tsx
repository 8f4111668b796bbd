import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { useChat } from "../chat/chat-context.ts";
import { ChangedFile } from "./changed-file.tsx";

interface ChangedFilesProps {
  readonly files: readonly AppliedFile[];
  /** Key under which it is remembered what is unfolded. */
  readonly id: string;
  /** True to show their lines until the reader closes them. */
  readonly open: boolean;
}

/** Files that are listed, with counted lines, until the reader asks for all. */
const listedFirst = 10;

/** Changed files, each with its lines folded below it. */
export function ChangedFiles({ files, id, open }: ChangedFilesProps) {
  const all = useChat().folds.of(`files:${id}`, false);
  const listed = all.value ? files : files.slice(0, listedFirst);
  return (
    <>
      <ul class="changed-files">
        {listed.map((file, index) => (
          <ChangedFile
            key={file.path}
            file={file}
            id={`${id}:${file.path}`}
            open={open}
            counted={index < listedFirst}
          />
        ))}
      </ul>
      {listed.length < files.length && (
        <button
          type="button"
          class="link change-more"
          onClick={() => {
            all.value = true;
          }}
        >
          Show {plural(files.length - listed.length, "more file")}
        </button>
      )}
    </>
  );
}
