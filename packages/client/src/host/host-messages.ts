import * as z from "zod/mini";
import { replPanels } from "./repl-host.ts";
import { hostCommands, name, type WindowRequest, windowRequests } from "./window-requests.ts";

/**
 * Messages between the REPL app in a webview and the extension host. Both sides parse everything they receive with these
 * schemas and drop what does not fit: another frame may post messages too.
 */

/** Messages of one call that may be on their way to the app: the host waits for `taken` before it sends more. */
export const callWindow = 256;

const id = z.int().check(z.nonnegative());

const settingsSchema = z.strictObject({
  showThinking: z.boolean(),
  backend: name,
  model: name,
  modelUrl: z.string().check(z.maxLength(2048)),
  editingMode: z.enum(["branch", "proposal"]),
  scenario: name,
  questionSeconds: z.exactOptional(id),
});

/** Named in `windowRequests`; answered by an `answer` with the same id. */
const wanted = z.custom<WindowRequest>((value) => typeof value === "string" && Object.hasOwn(windowRequests, value));

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

export const toHostSchema = z.discriminatedUnion("type", [
  /** The app is loaded and waits for `launch`. */
  z.strictObject({ type: z.literal("ready") }),
  /** One call of a service; its messages come back with the same id. */
  z.strictObject({ type: z.literal("call"), id, service: name, method: name, message: bytes }),
  z.strictObject({ type: z.literal("cancel"), id }),
  /** The app has used so many messages of this call; see `callWindow`. */
  z.strictObject({ type: z.literal("taken"), id, count: z.int().check(z.positive()) }),
  /** `sessionId`: the one that is shown; empty for none. */
  z.strictObject({ type: z.literal("request"), id, sessionId: name, wanted, asked: z.optional(z.unknown()) }),
  z.strictObject({ type: z.literal("save-state"), state: z.unknown() }),
  /** Decisions about a proposal so far. */
  z.strictObject({ type: z.literal("save-review"), state: z.unknown() }),
  /** The session that the app shows now. */
  z.strictObject({ type: z.literal("shows-session"), sessionId: name }),
]);

export const toAppSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("launch"),
    launch: z.strictObject({
      clientId: name,
      clientName: name,
      version: name,
      workspace: z.optional(z.string()),
      sessionId: z.optional(name),
      state: z.unknown(),
      settings: settingsSchema,
      folders: z.exactOptional(z.int().check(z.nonnegative())),
      reviews: z.optional(z.array(z.unknown())),
    }),
  }),
  /** Results of a call, in order, batched because a post costs far more than a message. */
  z.strictObject({
    type: z.literal("messages"),
    id,
    messages: z.array(bytes).check(z.minLength(1), z.maxLength(callWindow)),
  }),
  /** A call ended; with `error` when it failed. `code` is Connect's number. */
  z.strictObject({
    type: z.literal("end"),
    id,
    error: z.optional(
      z.strictObject({
        code: z.int(),
        message: z.string(),
        metadata: z.record(z.string(), z.string()),
        /** Connect's error details: a message's type name and its bytes. */
        details: z.array(z.strictObject({ type: name, value: bytes })).check(z.maxLength(100)),
      }),
    ),
  }),
  z.strictObject({ type: z.literal("answer"), id, value: z.optional(z.unknown()), error: z.optional(z.string()) }),
  z.strictObject({
    type: z.literal("notice"),
    notice: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("show-session"), sessionId: z.optional(name) }),
      z.strictObject({
        type: z.literal("show-call"),
        sessionId: name,
        turnId: name,
        callId: z.string().check(z.maxLength(1024)),
      }),
      z.strictObject({ type: z.literal("prompt"), text: z.string(), send: z.boolean() }),
      z.strictObject({ type: z.literal("mention"), mentions: z.array(z.string()).check(z.maxLength(100)) }),
      z.strictObject({ type: z.literal("attach"), title: z.string(), text: z.string() }),
      z.strictObject({ type: z.literal("show-panel"), panel: z.enum(replPanels), proposalId: z.exactOptional(name) }),
      z.strictObject({ type: z.literal("choose-model") }),
      z.strictObject({ type: z.literal("settings"), settings: settingsSchema }),
      z.strictObject({ type: z.literal("review"), state: z.unknown() }),
      z.strictObject({
        type: z.literal("server"),
        state: z.enum(["connected", "unreachable", "refused"]),
        message: z.string(),
        steps: z.exactOptional(z.readonly(z.array(z.enum(hostCommands)).check(z.maxLength(10)))),
      }),
      z.strictObject({ type: z.literal("role"), watching: z.boolean() }),
      z.strictObject({ type: z.literal("window"), focused: z.boolean() }),
    ]),
  }),
]);

export type ToHost = z.infer<typeof toHostSchema>;
export type ToApp = z.infer<typeof toAppSchema>;
