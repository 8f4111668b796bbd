import { create, type DescMessage, fromBinary, isMessage, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ClientCapabilitiesSchema, ClientEventSchema } from "#gen/gennai/agent/v1/agent_pb";
import { InvokeEventSchema } from "#gen/gennai/agent/v1/event_pb";
import { InvalidField } from "#model/checked-field";
import {
  type AnswerInit,
  type Asked,
  answerFromEvent,
  answerRequest,
  answersEditorRequest,
  asksEditor,
  capabilitiesOf,
  type EditorRequestBody,
  type EditorRequestKind,
  editorMethods,
  failureToEvent,
  type Given,
  isAnswerTo,
  kindsOf,
  requestBody,
  requestFromEvent,
  requestToEvent,
  tellRequest,
} from "#model/session/editor-messages";
import type { ProposedChange } from "#model/session/proposal";

const requestId = "6f1d1c3a-0b7e-4a55-9c3f-2f0f5a6d7e8b";
const digest = "5e".repeat(32);
const change: ProposedChange = {
  id: "c1",
  path: "a.ts",
  operation: "create",
  unifiedDiff: "diff",
  newContent: "text",
  newContentBlob: { sha256: digest, size: 3, mediaType: "text/plain" },
  baseSha256: digest,
  baseBlob: { sha256: digest, size: 4, mediaType: "text/x" },
  conflict: true,
  warning: "warning",
  hunks: [
    {
      id: "h1",
      oldRange: { start: 1, count: 2 },
      newRange: { start: 3, count: 4 },
      lines: ["+text"],
      commands: ["make a.ts"],
    },
  ],
  newMode: 0o755,
  binary: true,
  commands: ["make a.ts"],
  movedFrom: "b.ts",
};

/** One of each kind, with nothing left out. */
const examples: { readonly [Kind in EditorRequestKind]: { readonly asked: Asked<Kind>; readonly given: Given<Kind> } } =
  {
    "file-read": {
      asked: { path: "a.ts", offset: 2, limit: 3, reason: "reason" },
      given: {
        content: "text",
        source: "disk",
        encoding: "utf8",
        version: 4,
        dirty: true,
        sha256: digest,
        diskSha256: digest,
        eol: "crlf",
        bom: true,
        truncated: true,
        totalLines: 5,
      },
    },
    command: {
      asked: { command: "npm test", cwd: "/w", terminalName: "tests", reveal: true },
      given: { state: "exited", exitCode: 3, output: "output", truncated: true, terminalId: "t1" },
    },
    "apply-changes": {
      asked: { changeSetId: "set-1", changes: [change] },
      given: [{ path: "a.ts", operation: "delete", beforeSha256: digest, afterSha256: digest }],
    },
    "model-call": { asked: { requestJson: "{}" }, given: "[]" },
    diagnostics: {
      asked: { paths: ["a.ts"] },
      given: [{ path: "a.ts", line: 1, column: 2, severity: "hint", message: "message", source: "ts" }],
    },
    "user-question": {
      asked: {
        questions: [
          {
            question: "Which one?",
            header: "Store",
            multiple: true,
            options: [{ label: "SQLite", description: "One file" }],
          },
        ],
      },
      given: { end: "answered", answers: [{ chosen: [1], text: "and fast" }] },
    },
    "find-symbols": {
      asked: { query: "main", path: "a.ts" },
      given: { symbols: [{ name: "main", kind: "function", path: "a.ts", line: 1, container: "c" }], truncated: true },
    },
  };

const each = Object.keys(examples).map((kind) => ({ kind: kind as EditorRequestKind }));
const common = { requestId, ownerEpoch: 7n, deadline: { seconds: 1n, nanos: 0 } };

function body(kind: EditorRequestKind): EditorRequestBody {
  return requestBody(kind, examples[kind].asked);
}

function sentRequest(kind: EditorRequestKind) {
  const message = create(InvokeEventSchema, { event: requestToEvent(body(kind), common) });
  const { event } = fromBinary(InvokeEventSchema, toBinary(InvokeEventSchema, message));
  if (!asksEditor(event)) throw new Error(`${String(event.case)} asks no editor`);
  return event;
}

function sentAnswer(answer: AnswerInit) {
  const message = create(ClientEventSchema, { event: answer });
  const { event } = fromBinary(ClientEventSchema, toBinary(ClientEventSchema, message));
  if (!answersEditorRequest(event)) throw new Error(`${String(event.case)} answers no editor's request`);
  return event;
}

const editor = editorMethods<object>(async (kind) => examples[kind].given);

async function answered(kind: EditorRequestKind) {
  const answer = answerRequest(editor, requestFromEvent(sentRequest(kind)));
  if (answer === undefined) throw new Error("not answered");
  return sentAnswer(await answer({}));
}

/** Names of the fields that have nothing in them, `message.field`. */
function unsetFields(schema: DescMessage, value: unknown): readonly string[] {
  return schema.fields.flatMap(({ localName, message }) => {
    const field = (value as Readonly<Record<string, unknown>>)[localName];
    const parts: readonly unknown[] = Array.isArray(field) ? field : [field];
    const empty = parts.length === 0 || [undefined, "", 0, 0n, false].some((nothing) => parts[0] === nothing);
    if (empty) return [`${schema.name}.${localName}`];
    return message?.file.name.startsWith("gennai/") === true && isMessage(parts[0])
      ? unsetFields(message, parts[0])
      : [];
  });
}

test.each(each)("a request of the kind $kind arrives as it was asked, with all fields of its message", ({ kind }) => {
  const event = sentRequest(kind);
  expect(requestFromEvent(event)).toEqual({ kind, requestId, ownerEpoch: 7n, request: examples[kind].asked });
  expect(tellRequest(requestFromEvent(event))).not.toBe("");
  const schema = InvokeEventSchema.fields.find(({ localName }) => localName === event.case)?.message;
  expect(schema && unsetFields(schema, event.value)).toEqual([]);
});

test.each(each)(
  "an answer of the kind $kind arrives as it was given, with all fields but the error",
  async ({ kind }) => {
    const event = await answered(kind);
    const answer = answerFromEvent(event);
    expect(answer).toMatchObject({ kind, answer: examples[kind].given, error: "" });
    expect(event.value.requestId).toBe(requestId);
    const schema = ClientEventSchema.fields.find(({ localName }) => localName === event.case)?.message;
    expect(schema && unsetFields(schema, event.value)).toEqual([`${schema?.name}.error`]);
    expect(each.filter((other) => isAnswerTo(body(other.kind), answer))).toEqual([{ kind }]);
  },
);

test.each(each)("a failure of the kind $kind says why, and answers the request", ({ kind }) => {
  const event = sentAnswer(failureToEvent(requestFromEvent(sentRequest(kind)), "The disk is gone."));
  const answer = answerFromEvent(event);
  expect(answer.error).toBe("The disk is gone.");
  expect(isAnswerTo(body(kind), answer)).toBe(true);
});

test("an editor is asked for what it has", () => {
  const { readFile, findSymbols } = editor;
  const capabilities = create(ClientCapabilitiesSchema, capabilitiesOf({ readFile, findSymbols }));
  expect(kindsOf(capabilities)).toEqual(["file-read", "find-symbols"]);
  expect(kindsOf(create(ClientCapabilitiesSchema, capabilitiesOf(editor)))).toEqual(each.map(({ kind }) => kind));
  expect(kindsOf(undefined)).toEqual([]);
  const request = requestFromEvent(sentRequest("command"));
  expect(answerRequest({ readFile }, request)).toBeUndefined();
});

test("a file read answers for its path alone", async () => {
  const answer = answerFromEvent(await answered("file-read"));
  const other = requestBody("file-read", { path: "b.ts", offset: 0, limit: 0, reason: "" });
  expect(isAnswerTo(other, answer)).toBe(false);
});

test.each([
  [{ path: "/etc/passwd" }],
  [{ path: "C:\\a" }],
  [{ path: "a/../../b" }],
  [{ totalLines: -1 }],
  [{ version: -1n }],
  [{ sha256: "5E".repeat(32) }],
])("an answer with %o is refused", (field) => {
  const event = sentAnswer({ case: "fileReadResponse", value: { requestId, path: "a.ts", ...field } });
  expect(() => answerFromEvent(event)).toThrow(InvalidField);
});

test("a command neither sent nor failed is refused", () => {
  const event = sentAnswer({ case: "commandDispatchResponse", value: { requestId, status: "MAYBE" } });
  expect(() => answerFromEvent(event)).toThrow(InvalidField);
});
