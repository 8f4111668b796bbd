import { z } from "zod";
import { homeCommands, replPanels } from "./repl-home.ts";

/**
 * What crosses between the REPL app in a webview and the extension host. Both sides parse everything they receive with
 * these schemas and drop what does not fit: another frame may post messages too.
 */

const id = z.int().nonnegative();
const path = z.string().min(1).max(4096);
const name = z.string().max(256);

const settingsSchema = z.strictObject({
  showThinking: z.boolean(),
  backend: name,
  model: name,
  editingMode: z.enum(["branch", "proposal"]),
  scenario: name,
});

const decisionSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("keep"), note: z.string().exactOptional() }),
  z.strictObject({ type: z.literal("undo"), note: z.string().exactOptional() }),
  z.strictObject({ type: z.literal("edited"), text: z.string(), note: z.string().exactOptional() }),
]);

const reviewSchema = z.strictObject({
  sessionId: name,
  proposalId: name,
  hunks: z.array(z.strictObject({ changeId: name, hunkId: name, decision: decisionSchema })).max(100_000),
  note: z.string(),
});

/** Asked of the home; answered by an `answer` with the same id. */
const requestSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("apply-review"), review: reviewSchema }),
  z.strictObject({ type: z.literal("revert-change-set"), sessionId: name, changeSetId: name }),
  z.strictObject({ type: z.literal("open-file"), path, line: z.int().positive().optional() }),
  z.strictObject({ type: z.literal("open-diff"), sessionId: name, proposalId: name, changeId: name }),
  z.strictObject({ type: z.literal("editor-context") }),
  z.strictObject({ type: z.literal("command"), command: z.enum(homeCommands) }),
]);

const bytes = z.instanceof(Uint8Array);

export const toHomeSchema = z.discriminatedUnion("type", [
  /** The app is loaded and waits for `launch`. */
  z.strictObject({ type: z.literal("ready") }),
  /** One call of a service; its messages come back with the same id. */
  z.strictObject({ type: z.literal("call"), id, service: name, method: name, message: bytes }),
  z.strictObject({ type: z.literal("cancel"), id }),
  z.strictObject({ type: z.literal("request"), id, request: requestSchema }),
  z.strictObject({ type: z.literal("save-state"), state: z.unknown() }),
  /** The session that the app shows now. */
  z.strictObject({ type: z.literal("session"), sessionId: name }),
]);

export const toAppSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("launch"),
    launch: z.strictObject({
      clientId: name,
      clientName: name,
      version: name,
      workspace: z.string().optional(),
      sessionId: name.optional(),
      state: z.unknown(),
      settings: settingsSchema,
    }),
  }),
  z.strictObject({ type: z.literal("message"), id, message: bytes }),
  /** A call ended; with `error` when it failed. `code` is Connect's number. */
  z.strictObject({
    type: z.literal("end"),
    id,
    error: z.strictObject({ code: z.int(), message: z.string(), metadata: z.record(z.string(), z.string()) }).optional(),
  }),
  z.strictObject({ type: z.literal("answer"), id, value: z.unknown(), error: z.string().optional() }),
  z.strictObject({
    type: z.literal("notice"),
    notice: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("show-session"), sessionId: name.optional() }),
      z.strictObject({ type: z.literal("prompt"), text: z.string(), send: z.boolean() }),
      z.strictObject({ type: z.literal("show-panel"), panel: z.enum(replPanels) }),
      z.strictObject({ type: z.literal("settings"), settings: settingsSchema }),
      z.strictObject({
        type: z.literal("server"),
        state: z.enum(["connected", "unreachable", "refused"]),
        message: z.string(),
      }),
    ]),
  }),
]);

export type ToHome = z.infer<typeof toHomeSchema>;
export type ToApp = z.infer<typeof toAppSchema>;
export type HomeRequest = z.infer<typeof requestSchema>;
