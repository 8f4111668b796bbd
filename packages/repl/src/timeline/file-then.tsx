import type { CallOptions } from "@gennai/client/connection/connection";
import { type BlobSource, checkedBlob, sideOf } from "@gennai/client/review/change-content";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ReadChange } from "@gennai/protocol/read-record";
import { useEffect, useState } from "preact/hooks";
import { CodePane } from "../look/code-pane.tsx";
import { DiffTable } from "../review/diff-table.tsx";
import { fileDiff } from "../review/file-diff.ts";

export interface FileThenProps {
  readonly version: ReadChange;
  /** The newest known version of the same file; undefined: this is the newest. */
  readonly newest: ReadChange | undefined;
  readonly source: BlobSource;
}

type Look = "then" | "changed" | "since";

/** A file as it was at a point of the timeline, what the point changed in it, and what has changed since. */
export function FileThen({ version, newest, source }: FileThenProps) {
  const [look, setLook] = useState<Look>("then");
  const looks: readonly (readonly [Look, string])[] = [
    ["then", "As it was then"],
    ["changed", "What changed"],
    ...(newest === undefined ? [] : ([["since", "Since then"]] as const)),
  ];
  return (
    <div class="file-then">
      <div class="g-row" role="group" aria-label={`How to look at ${version.path}`}>
        {looks.map(([each, words]) => (
          <button
            key={each}
            type="button"
            class="button button-quiet"
            aria-pressed={look === each}
            onClick={() => setLook(each)}
          >
            {words}
          </button>
        ))}
      </div>
      {look === "then" && <Text {...{ version, source }} />}
      {look === "changed" && (
        <Difference before={version.beforeSha256} after={version.afterSha256} {...{ version, source }} />
      )}
      {look === "since" && newest !== undefined && (
        <>
          <p class="g-quiet">From then to how the agent or you, in a review, left it last.</p>
          <Difference before={version.afterSha256} after={newest.afterSha256} {...{ version, source }} />
        </>
      )}
    </div>
  );
}

type OneProps = Pick<FileThenProps, "version" | "source">;

function Text({ version, source }: OneProps) {
  const texts = useTexts([version.afterSha256], source);
  if (version.operation === "delete") return <p class="g-quiet">It was deleted here.</p>;
  if (texts.problem !== "") return <NotKept problem={texts.problem} />;
  const [text] = texts.loaded;
  if (text === undefined) return <p role="status">Loading…</p>;
  return (
    <CodePane
      key={version.afterSha256}
      text={text}
      path={version.path}
      label={`${version.path}, as it was then`}
      readOnly
    />
  );
}

function Difference({
  before,
  after,
  version,
  source,
}: OneProps & { readonly before: string; readonly after: string }) {
  const texts = useTexts([before, after], source);
  if (texts.problem !== "") return <NotKept problem={texts.problem} />;
  const [old, fresh] = texts.loaded;
  if (old === undefined || fresh === undefined) return <p role="status">Loading…</p>;
  const { hunks } = fileDiff(old, fresh);
  if (hunks.length === 0) return <p class="g-quiet">Nothing is different.</p>;
  return hunks.map((rows, index) => (
    <DiffTable
      key={index}
      rows={rows}
      sideBySide={false}
      label={`${version.path}, difference ${index + 1} of ${hunks.length}`}
    />
  ));
}

function NotKept({ problem }: { readonly problem: string }) {
  return <p class="g-notice">It cannot be shown: {problem}</p>;
}

/** The texts of digests, as soon as they are loaded. */
function useTexts(digests: readonly string[], source: BlobSource) {
  const [texts, setTexts] = useState<{ readonly loaded: readonly string[]; readonly problem: string }>({
    loaded: [],
    problem: "",
  });
  useEffect(() => {
    const over = new AbortController();
    const { signal } = over;
    Promise.all(digests.map((sha256) => versionText(sha256, source, { signal }))).then(
      (loaded) => {
        if (!signal.aborted) setTexts({ loaded, problem: "" });
      },
      (error: unknown) => {
        if (!signal.aborted) setTexts({ loaded: [], problem: errorMessage(error) });
      },
    );
    return () => over.abort();
  }, digests);
  return texts;
}

/** The text of a digest; empty for an empty one. Rejects if it is not text, not kept, or does not match the digest. */
async function versionText(sha256: string, source: BlobSource, options: CallOptions): Promise<string> {
  if (sha256 === "") return "";
  const side = sideOf(await checkedBlob(sha256, "the file", source, options));
  if (side.type === "text") return side.text;
  throw new Error("It is not UTF-8 text.");
}
