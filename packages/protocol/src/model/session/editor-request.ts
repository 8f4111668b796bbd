import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ClientCapabilities, ClientEvent, ClientEventSchema } from "../../gen/gennai/agent/v1/agent_pb.ts";
import type { InvokeEvent, InvokeEventSchema } from "../../gen/gennai/agent/v1/event_pb.ts";

type Body<Event> = Extract<Event, { readonly case: string }>;
type EventBody = Body<InvokeEvent["event"]>;
type AnswerBody = Body<ClientEvent["event"]>;
type Value<Bodies, Case> =
  Extract<Bodies, { readonly case: Case }> extends { readonly value: infer Message } ? Message : never;
type Fields<Bodies, Case> = Omit<Exclude<Value<Bodies, Case>, { readonly $typeName: string }>, "requestId">;

/** One thing that a server asks of an editor. The fields of the request itself (id, epoch, deadline) are added elsewhere. */
export interface EditorRequest<Method, Event, Answer, Asked, Given> {
  /** Of the `Editor` that answers. */
  readonly method: Method;
  /** A client that has this is asked. */
  readonly capability: Exclude<keyof ClientCapabilities, "$typeName" | "$unknown">;
  readonly event: Event;
  readonly answer: Answer;
  /** As in: no attached client could … in time. */
  readonly purpose: string;
  /** Milliseconds that an attached client has. */
  readonly answerMs: number;
  /** The same for a client of the original protocol, where that is another time. */
  readonly originalAnswerMs?: number;
  /** What the session's log has in place of these fields. The texts of all others are masked in it. */
  readonly inLog?: Partial<Asked>;
  /** For people, while it is under way. */
  tell(request: Asked): string;
  toMessage(request: Asked): Fields<Body<MessageInitShape<typeof InvokeEventSchema>["event"]>, Event>;
  fromMessage(message: Value<EventBody, Event>): Asked;
  answerToMessage(
    answer: Given,
    request: Asked,
  ): Fields<Body<MessageInitShape<typeof ClientEventSchema>["event"]>, Answer>;
  /** Throws `InvalidField`: nothing behind it doubts the shape. */
  answerFromMessage(message: Value<AnswerBody, Answer>): Given;
  /** What request and answer must both name; without it, the id of the request is enough. */
  subject?(message: { readonly path: string }): string;
  /** The fields of an answer that reports a failure; default: `error`. */
  failure?(error: string, request: Asked): object;
  /** Why there is no answer; empty when there is. Without it, `error`. Throws `InvalidField`. */
  errorOf?(message: Value<AnswerBody, Answer>): string;
}

/** Infers the types of a row. */
export function editorRequest<
  const Method extends string,
  Event extends EventBody["case"],
  Answer extends AnswerBody["case"],
  Asked,
  Given,
>(row: EditorRequest<Method, Event, Answer, Asked, Given>): EditorRequest<Method, Event, Answer, Asked, Given> {
  return row;
}
