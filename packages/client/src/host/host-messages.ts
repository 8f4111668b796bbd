import * as z from "zod/mini";
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
  /** Empty: the server's default. */
  backend: name,
  model: name,
  /** Address of the model's server; empty: the default. */
  modelUrl: z.string().check(z.maxLength(2048)),
  editingMode: z.enum(["branch", "proposal"]),
  scenario: name,
  /** How long a question of a new session waits, 0: no limit; absent: the server's default. */
  questionSeconds: z.exactOptional(id),
});

export const replPanels = [
  "chat",
  "review",
  "more",
  "plan",
  "todos",
  "attempts",
  "checkpoints",
  "timeline",
  "governance",
  "prompt",
] as const;
export type ReplPanel = (typeof replPanels)[number];

const launchSchema = z.strictObject({
  /** Stable over reloads: the app's own client id. */
  clientId: name,
  /** Shown to people, e.g. `gennai-vscode 0.1.0`. */
  clientName: name,
  version: name,
  /** Absolute path; absent: the server's default. */
  workspace: z.optional(z.string()),
  /** The session to show; absent: the newest of the workspace, or a new one with the first prompt. */
  sessionId: z.optional(name),
  /** Last value given to `saveState`. */
  state: z.unknown(),
  settings: settingsSchema,
  /** Folders of the window that a session could work on; more than one: a person may choose. */
  folders: z.exactOptional(id),
  /** Reviews that the host holds, newest first (`KeptReviews`); absent: it holds none. */
  reviews: z.optional(z.readonly(z.array(z.unknown()))),
});

const noticeSchema = z.discriminatedUnion("type", [
  /** Show this session; absent: begin a new one with the next prompt. */
  z.strictObject({ type: z.literal("show-session"), sessionId: z.optional(name) }),
  /** Show a call in the conversation of its session. */
  z.strictObject({
    type: z.literal("show-call"),
    sessionId: name,
    turnId: name,
    callId: z.string().check(z.maxLength(1024)),
  }),
  /** Send this as the user's prompt, or only put it into the box. */
  z.strictObject({ type: z.literal("prompt"), text: z.string(), send: z.boolean() }),
  /** Put these mentions (`@src/a.ts:1-3`) into what is being written. */
  z.strictObject({ type: z.literal("mention"), mentions: z.readonly(z.array(z.string()).check(z.maxLength(100))) }),
  /** Have a text go along with what is being written, as material: a chip names it. */
  z.strictObject({ type: z.literal("attach"), title: z.string(), text: z.string() }),
  /** `proposalId`: which one the review shows; absent: the one it showed before, else the newest. */
  z.strictObject({ type: z.literal("show-panel"), panel: z.enum(replPanels), proposalId: z.exactOptional(name) }),
  /** Let the user choose a model. */
  z.strictObject({ type: z.literal("choose-model") }),
  z.strictObject({ type: z.literal("settings"), settings: settingsSchema }),
  /** Something was decided elsewhere about a proposal: a `ReviewState`. */
  z.strictObject({ type: z.literal("review"), state: z.unknown() }),
  /** The way to the server was lost or came back; `message` says what to do. */
  z.strictObject({
    type: z.literal("server"),
    state: z.enum(["connected", "unreachable", "refused"]),
    message: z.string(),
    /** Buttons with what to do; absent: starting a server, and the log. */
    steps: z.exactOptional(z.readonly(z.array(z.enum(hostCommands)).check(z.maxLength(10)))),
  }),
  /** Another window works in the workspace, and this one only watches; or no longer. */
  z.strictObject({ type: z.literal("role"), watching: z.boolean() }),
  /** The window got or lost the focus of a person: a webview's own focus says that of one part of it. */
  z.strictObject({ type: z.literal("window"), focused: z.boolean() }),
]);

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
  z.strictObject({ type: z.literal("launch"), launch: launchSchema }),
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
  z.strictObject({ type: z.literal("notice"), notice: noticeSchema }),
]);

/** Initial data of the app. */
export type ReplLaunch = z.infer<typeof launchSchema>;
export type ReplSettings = z.infer<typeof settingsSchema>;
export type HostNotice = z.infer<typeof noticeSchema>;
export type ToHost = z.infer<typeof toHostSchema>;
export type ToApp = z.infer<typeof toAppSchema>;
