import type { BlobSource } from "@gennai/client/review/change-content";
import type { ReadChange } from "@gennai/protocol/read-record";
import { useId, useState } from "preact/hooks";
import { CopyButton } from "../look/copy-button.tsx";
import { Fact } from "../look/fact.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { Digest } from "../plan/digest.tsx";
import { FileThen } from "./file-then.tsx";
import { kindWords, recordWords } from "./record-words.ts";
import type { TimelineCall, TimelineRecord } from "./timeline-record.ts";

export interface RecordEntryProps {
  readonly record: TimelineRecord;
  readonly open: boolean;
  /** True if the record does not continue the chain of the one before. */
  readonly bad: boolean;
  readonly onOpen: (open: boolean) => void;
  readonly onOpenFile: ((path: string) => void) | undefined;
  readonly versions: {
    readonly source: BlobSource;
    /** The newest version of a file after this record, if one is known. */
    newer(path: string): ReadChange | undefined;
  };
}

/** A record as one line, and all of it on demand. */
export function RecordEntry({ record, open, bad, onOpen, onOpenFile, versions }: RecordEntryProps) {
  const id = useId();
  return (
    <li class={`record record-${styleOf(record)}${bad ? " record-bad" : ""}`}>
      <button type="button" class="record-line" aria-expanded={open} aria-controls={id} onClick={() => onOpen(!open)}>
        <span class="record-seq">{record.seq}</span>
        <time class="record-time" dateTime={record.time?.toISOString()}>
          {record.time?.toLocaleTimeString([], { hour12: false }) ?? "–"}
        </time>
        <VisibleText in="span" class="record-kind" title={record.kind} text={kindWords(record)} />
        <VisibleText in="span" class="record-what" text={recordWords(record)} />
        {bad && <span class="badge badge-bad">broken chain</span>}
      </button>
      <div id={id} class="record-detail" hidden={!open}>
        {open && <Detail {...{ record, onOpenFile, versions }} />}
      </div>
    </li>
  );
}

const known = new Set(["intent", "outcome", "refusal", "review", "applied", "undo", "session", "emergency", "purge"]);

function styleOf({ kind, end }: TimelineRecord): string {
  if (kind === "outcome" && end !== "done") return "refusal";
  return known.has(kind) ? kind : "other";
}

function Detail({ record, onOpenFile, versions }: Pick<RecordEntryProps, "record" | "onOpenFile" | "versions">) {
  const [looked, setLooked] = useState<string>();
  return (
    <>
      {record.calls.map((call, index) => (
        <Call key={index} call={call} />
      ))}
      {record.paths.length > 0 && (
        <ul class="g-paths" aria-label="Files">
          {record.paths.map((path) => (
            <li key={path}>
              {onOpenFile === undefined ? (
                <VisibleText text={path} />
              ) : (
                <button type="button" class="link" onClick={() => onOpenFile(path)}>
                  <VisibleText text={path} />
                </button>
              )}{" "}
              <LookButton {...{ record, path }} looked={looked === path} onLook={setLooked} />
              {looked === path && <Looked {...{ record, path, versions }} />}
            </li>
          ))}
        </ul>
      )}
      <dl class="g-facts">
        <Fact name="When">{record.time?.toLocaleString() ?? "not said"}</Fact>
        {record.modelId !== "" && (
          <Fact name="Model">
            <VisibleText text={record.modelId} />
          </Fact>
        )}
        {record.intent !== "" && (
          <Fact name="Intent">
            <VisibleText text={record.intent} />
          </Fact>
        )}
        <Fact name="Session">
          <VisibleText in="code" text={record.sessionId} />
        </Fact>
        <Fact name="Hash">
          <Digest digest={record.hash} of="the record" />
        </Fact>
        <Fact name="Follows">
          <Digest digest={record.previousHash} of="the record before" />
        </Fact>
      </dl>
      <details>
        <summary>The record as it stands</summary>
        <VisibleText in="pre" class="g-code" tabIndex={0} text={indented(record.json)} />
        <CopyButton text={record.json} label="Copy" />
      </details>
    </>
  );
}

interface LookProps {
  readonly record: TimelineRecord;
  readonly path: string;
}

function LookButton({
  record,
  path,
  looked,
  onLook,
}: LookProps & { readonly looked: boolean; readonly onLook: (path: string | undefined) => void }) {
  if (!record.changes.some((version) => version.path === path)) return null;
  return (
    <button
      type="button"
      class="link"
      aria-expanded={looked}
      aria-label={`${path} at this point`}
      onClick={() => onLook(looked ? undefined : path)}
    >
      {looked ? "Hide" : "Look at it"}
    </button>
  );
}

function Looked({ record, path, versions }: LookProps & Pick<RecordEntryProps, "versions">) {
  const version = record.changes.find((each) => each.path === path);
  if (version === undefined) return null;
  return <FileThen version={version} newest={versions.newer(path)} source={versions.source} />;
}

function Call({ call }: { readonly call: TimelineCall }) {
  const words = [
    call.verdict === "" ? "" : `verdict ${call.verdict}`,
    call.rule === "" ? "" : `rule ${call.rule}`,
    call.risk === "" ? "" : `${call.risk} risk`,
    call.confirmation === "" ? "" : `answer ${call.confirmation}`,
    call.exitCode === undefined ? "" : `exit code ${call.exitCode}`,
    call.failureClass,
    call.verification,
  ].filter((word) => word !== "");
  return (
    <div class="record-call">
      <VisibleText in="pre" class="g-code" tabIndex={0} text={`${call.tool} ${call.input}`.trim()} />
      <VisibleText in="p" class="g-quiet" text={words.join(" · ")} />
    </div>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
