import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { useMemo } from "preact/hooks";
import { useChat } from "../chat/chat-context.ts";
import type { ChangedContent } from "../control/session/change-contents.ts";
import { useLineColours } from "../look/use-line-colours.ts";
import type { DiffRow } from "../review/diff-rows.ts";
import { DiffTable } from "../review/diff-table.tsx";

/** Rows of a diff that are shown until the reader asks for all. */
const shownFirst = 14;

interface ChangedFileDiffProps {
  readonly file: AppliedFile;
  readonly content: ChangedContent;
  /** Key under which it is remembered what is unfolded. */
  readonly id: string;
}

/** What changed in a file, line by line: the beginning, and the rest on demand. */
export function ChangedFileDiff({ file, content, id }: ChangedFileDiffProps) {
  const all = useChat().folds.of(`rows:${id}`, false);
  const text = content.type === "text" ? content : undefined;
  const old = useLineColours(file.path, text?.before);
  const fresh = useLineColours(file.path, text?.after);
  const hunks = text?.diff.hunks ?? none;
  const { shown, hidden } = useMemo(
    () => beginning(hunks, all.value ? Number.POSITIVE_INFINITY : shownFirst),
    [hunks, all.value],
  );
  if (content.type === "loading") return <p class="change-note">Loading what changed…</p>;
  if (content.type === "binary") {
    return <p class="change-note">Not shown: this is not UTF-8 text ({content.bytes.toLocaleString("en")} bytes).</p>;
  }
  if (content.type === "unknown") return <p class="change-note">{content.reason}</p>;
  if (hunks.length === 0) return <p class="change-note">{emptyWords[file.operation]}</p>;
  return (
    <div class="change-diff">
      {shown.map((rows, index) => (
        <div key={index} class="change-hunk">
          <DiffTable
            rows={rows}
            sideBySide={false}
            label={`What changed in ${file.path}, part ${index + 1} of ${hunks.length}`}
            colours={{ old, fresh }}
          />
        </div>
      ))}
      {hidden > 0 && (
        <button
          type="button"
          class="link change-more"
          onClick={() => {
            all.value = true;
          }}
        >
          Show {plural(hidden, "more row")}
        </button>
      )}
    </div>
  );
}

const none: readonly (readonly DiffRow[])[] = [];

const emptyWords = {
  create: "The file is empty.",
  update: "It is as it was before.",
  delete: "The file was empty.",
} as const;

/** The first rows of hunks, and how many more there are. */
function beginning(hunks: readonly (readonly DiffRow[])[], most: number) {
  const shown: (readonly DiffRow[])[] = [];
  let room = most;
  let hidden = 0;
  for (const rows of hunks) {
    const taken = Math.min(rows.length, room);
    if (taken > 0) shown.push(rows.slice(0, taken));
    room -= taken;
    hidden += rows.length - taken;
  }
  return { shown, hidden };
}
