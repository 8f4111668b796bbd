import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ClientCapabilities, ClientEvent, ClientEventSchema } from "../../gen/gennai/agent/v1/agent_pb.ts";
import type { InvokeEvent, InvokeEventSchema } from "../../gen/gennai/agent/v1/event_pb.ts";
import type { EditorRequest } from "./editor-request.ts";
import { editorRequests } from "./editor-requests.ts";

type Rows = typeof editorRequests;

export type EditorRequestKind = keyof Rows;

/** What is asked for. */
export type Asked<Kind extends EditorRequestKind> = Parameters<Rows[Kind]["toMessage"]>[0];

/** What is given for it. */
export type Given<Kind extends EditorRequestKind> = ReturnType<Rows[Kind]["answerFromMessage"]>;

/** A request with its kind. */
export type EditorRequestBody = {
  [Kind in EditorRequestKind]: { readonly kind: Kind } & Asked<Kind>;
}[EditorRequestKind];

/** An answer with its kind. */
export type EditorAnswer<Kind extends EditorRequestKind = EditorRequestKind> = {
  [Each in Kind]: {
    readonly kind: Each;
    readonly answer: Given<Each>;
    /** Why there is none; otherwise empty. */
    readonly error: string;
    /** What it says it is about; empty for kinds that need not say. */
    readonly subject: string;
  };
}[Kind];

/** One method for each kind of request. */
export type EditorMethods<Options> = {
  readonly [Kind in EditorRequestKind as Rows[Kind]["method"]]: (
    request: Asked<Kind>,
    options: Options,
  ) => Promise<Given<Kind>>;
};

type RequestEvent = Extract<InvokeEvent["event"], { readonly case: Rows[EditorRequestKind]["event"] }>;
type AnswerEvent = Extract<ClientEvent["event"], { readonly case: Rows[EditorRequestKind]["answer"] }>;
type Row = EditorRequest<keyof EditorMethods<never>, RequestEvent["case"], AnswerEvent["case"], unknown, unknown>;

const rows: Readonly<Record<EditorRequestKind, Row>> = editorRequests;
const kinds = Object.keys(rows).filter((kind): kind is EditorRequestKind => Object.hasOwn(rows, kind));

/** For what a row makes: it is of the row's kind. */
function ofItsKind<Type>(value: unknown): Type {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The compiler cannot follow a kind through the table.
  return value as Type;
}

const kindOfEvent: Readonly<Record<RequestEvent["case"], EditorRequestKind>> = ofItsKind(
  Object.fromEntries(kinds.map((kind) => [rows[kind].event, kind])),
);
const kindOfAnswer: Readonly<Record<AnswerEvent["case"], EditorRequestKind>> = ofItsKind(
  Object.fromEntries(kinds.map((kind) => [rows[kind].answer, kind])),
);

/** Methods that all end in one call. */
export function editorMethods<Options>(
  call: <Kind extends EditorRequestKind>(kind: Kind, request: Asked<Kind>, options: Options) => Promise<Given<Kind>>,
): EditorMethods<Options> {
  const methods = kinds.map((kind) => [
    rows[kind].method,
    (request: Asked<typeof kind>, options: Options) => call(kind, request, options),
  ]);
  return ofItsKind(Object.fromEntries(methods));
}

type CapabilitiesInit = { readonly [Name in Row["capability"]]?: boolean };

/** The abilities of an editor with these methods, as sent to the server. */
export function capabilitiesOf(editor: Partial<EditorMethods<never>>): CapabilitiesInit {
  return Object.fromEntries(
    kinds.map((kind) => [rows[kind].capability, editor[rows[kind].method] !== undefined] as const),
  );
}

export function kindsOf(capabilities: ClientCapabilities | undefined): readonly EditorRequestKind[] {
  return kinds.filter((kind) => capabilities?.[rows[kind].capability] === true);
}

type EventInit = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

export function requestBody<Kind extends EditorRequestKind>(kind: Kind, request: Asked<Kind>): EditorRequestBody {
  return ofItsKind({ kind, ...request });
}

/** @param common the fields that every request has */
export function requestToEvent({ kind, ...request }: EditorRequestBody, common: object): EventInit {
  const { event, toMessage } = rows[kind];
  return ofItsKind({ case: event, value: { ...toMessage(request), ...common } });
}

/** A request as a client gets it. */
export interface ReceivedRequest {
  readonly kind: EditorRequestKind;
  readonly requestId: string;
  readonly ownerEpoch: bigint;
  readonly request: unknown;
}

export function asksEditor(event: InvokeEvent["event"]): event is RequestEvent {
  return event.case !== undefined && Object.hasOwn(kindOfEvent, event.case);
}

export function requestFromEvent({ case: name, value: message }: RequestEvent): ReceivedRequest {
  const kind = kindOfEvent[name];
  const { requestId, ownerEpoch } = message;
  return { kind, requestId, ownerEpoch, request: rows[kind].fromMessage(message) };
}

/** For people: what is being done for a request. */
export function tellRequest({ kind, request }: ReceivedRequest): string {
  return rows[kind].tell(request);
}

export type AnswerInit = NonNullable<MessageInitShape<typeof ClientEventSchema>["event"]>;

/** Has an editor answer; undefined when it does not answer such requests. */
export function answerRequest<Options>(
  editor: Partial<EditorMethods<Options>>,
  { kind, requestId: id, request }: ReceivedRequest,
): ((options: Options) => Promise<AnswerInit>) | undefined {
  const { method, answerToMessage } = rows[kind];
  const asked = editor[method]?.bind(editor);
  if (asked === undefined) return undefined;
  const ask: (request: unknown, options: Options) => Promise<unknown> = ofItsKind(asked);
  return async (options) => answerEvent(kind, id, answerToMessage(await ask(request, options), request));
}

/** Says why a request has no answer. */
export function failureToEvent({ kind, requestId: id, request }: ReceivedRequest, error: string): AnswerInit {
  return answerEvent(kind, id, rows[kind].failure?.(error, request) ?? { error });
}

function answerEvent(kind: EditorRequestKind, id: string, fields: object): AnswerInit {
  return ofItsKind({ case: rows[kind].answer, value: { ...fields, requestId: id } });
}

export function answersEditorRequest(event: ClientEvent["event"]): event is AnswerEvent {
  return event.case !== undefined && Object.hasOwn(kindOfAnswer, event.case);
}

/** Throws `InvalidField`. */
export function answerFromEvent({ case: name, value: message }: AnswerEvent): EditorAnswer {
  const kind = kindOfAnswer[name];
  const { answerFromMessage, errorOf, subject } = rows[kind];
  return ofItsKind({
    kind,
    error: errorOf === undefined ? message.error : errorOf(message),
    answer: answerFromMessage(message),
    subject: subject?.({ path: "", ...message }) ?? "",
  });
}

export function isOfKind<Kind extends EditorRequestKind>(
  answer: { readonly kind: string },
  kind: Kind,
): answer is EditorAnswer<Kind> {
  return answer.kind === kind;
}

/** Whether an answer is one to this request: of its kind, and about the same. */
export function isAnswerTo(request: EditorRequestBody, { kind, subject }: EditorAnswer): boolean {
  return request.kind === kind && (rows[kind].subject?.({ path: "", ...request }) ?? "") === subject;
}
