import { backends } from "@gennai/protocol/model/session/backend";
import * as z from "zod/mini";
import type { EditorContext } from "./editor-context.ts";
import type { ModelTrial } from "./model-choices.ts";

// A webview's policy lets no code be made from text, which would make parsing faster.
z.config({ jitless: true });

/** The commands of an editor that the app may offer as buttons. */
export const hostCommands = [
  "startServer",
  "showLog",
  "openSettings",
  "openScm",
  "selectIntent",
  "setUpBranch",
  "setToken",
  "openFolder",
  "chooseFolder",
  "takeOver",
  "showAllChanges",
] as const;
export type HostCommand = (typeof hostCommands)[number];

const path = z.string().check(z.minLength(1), z.maxLength(4096));
export const name = z.string().check(z.maxLength(256));
const digest = z.optional(z.string().check(z.regex(/^[0-9a-f]{64}$/)));
const address = z.string().check(z.maxLength(2048));
const nothing = z.void();
const nothingSaid = z.pipe(
  z.unknown(),
  z.transform((): void => undefined),
);

const note = z.exactOptional(z.string());
const decision = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("keep"), note }),
  z.strictObject({ type: z.literal("undo"), note }),
  z.strictObject({ type: z.literal("edited"), text: z.string(), note }),
]);
const review = z.strictObject({
  sessionId: name,
  proposalId: name,
  hunks: z.readonly(z.array(z.strictObject({ changeId: name, hunkId: name, decision })).check(z.maxLength(100_000))),
  note: z.string(),
});

const call = z.strictObject({
  turnId: name,
  callId: z.string().check(z.maxLength(1024)),
  /** A place in the log before it printed; as text, because a message of a webview holds no bigint. */
  afterSeq: z.string().check(z.regex(/^\d{1,20}$/)),
  /** The running command, as text for users. */
  command: z.string().check(z.maxLength(100_000)),
});

const model = z.strictObject({
  backend: z.enum(backends),
  /** Empty: the backend has one alone, or decides. */
  model: name,
  /** Address of the user's own server; empty: the provider's default. */
  baseUrl: address,
});

const position = z.exactOptional(z.object({ startLine: z.number(), endLine: z.number(), text: z.string() }));
const editorContext = z.pipe(
  z.object({ activeFile: z.exactOptional(z.string()), selection: position, openFiles: z.array(z.string()) }),
  z.transform(({ activeFile, selection, openFiles }): EditorContext => ({ activeFile, selection, openFiles })),
);

/** As in the settings: vendor, slash, id. */
const editorModel = z.object({ model: z.string(), contextTokens: z.number() });
const modelTrial: z.ZodMiniType<ModelTrial> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("answered"), milliseconds: z.number() }),
  z.object({ type: z.literal("failed"), problem: z.string(), hint: z.string() }),
]);

/**
 * What the app may ask of the window that it is shown in: what it says, and what it is answered. Both sides parse what they
 * receive: another frame may post messages too. Paths and ids come from the app, so that the window checks each.
 */
export const windowRequests = {
  /** Applies what the user decided about a proposal, and tells the server: all kept hunks in one step, or nothing. */
  applyProposal: { asks: review, says: z.object({ files: z.readonly(z.array(z.string())) }) },
  /** Takes a change set back in the editor. */
  revertChangeSet: { asks: name, says: nothingSaid },
  /** Shows a file of the workspace. */
  openFile: { asks: z.strictObject({ path, line: z.optional(z.int().check(z.positive())) }), says: nothingSaid },
  /** Opens a rule's file at its line, or says where it is: `file:line` from the server. */
  openRule: { asks: path, says: nothingSaid },
  /** Shows a proposed change in the editor's own diff. */
  openDiff: { asks: z.strictObject({ proposalId: name, changeId: name }), says: nothingSaid },
  /** Shows a text in an editor of its own, read-only. */
  openText: {
    asks: z.strictObject({
      title: name,
      text: z.string().check(z.maxLength(4_000_000)),
      kind: z.enum(["text", "diff"]),
    }),
    says: nothingSaid,
  },
  /** Shows what a running call prints in a terminal, which can stop it. */
  watchCall: { asks: call, says: nothingSaid },
  /** Shows what a call changed in a file in the editor's own diff; `attemptsId`: an attempt of these changed it. */
  openChange: {
    asks: z.strictObject({ path, beforeSha256: digest, afterSha256: digest, attemptsId: z.optional(name) }),
    says: nothingSaid,
  },
  /** The user's present editor state, to offer as context of a prompt. */
  editorContext: { asks: nothing, says: editorContext },
  /** Workspace paths of files that were dropped, by their URIs; what is not a file of the workspace is left out. */
  namesOfDropped: {
    asks: z.readonly(z.array(path).check(z.maxLength(100))),
    says: z.readonly(z.array(z.string())),
  },
  /** Keeps the model that was chosen, for sessions to come. */
  keepModel: { asks: model, says: nothingSaid },
  /** Keeps a provider's key for its user, and hands it to the server. */
  keepModelKey: {
    asks: z.strictObject({ backend: z.enum(backends), baseUrl: address, key: z.string().check(z.maxLength(8192)) }),
    says: nothingSaid,
  },
  /** Models that other extensions of the editor offer. */
  listEditorModels: { asks: nothing, says: z.readonly(z.array(editorModel)) },
  /** Makes one small real call; the editor may ask its user first. */
  tryEditorModel: { asks: name, says: modelTrial },
  /** Runs one of the editor's own commands. */
  runHostCommand: { asks: z.enum(hostCommands), says: nothingSaid },
};

export type WindowRequest = keyof typeof windowRequests;
type Asked = { readonly [Name in WindowRequest]: z.output<(typeof windowRequests)[Name]["asks"]> };
type Said = { readonly [Name in WindowRequest]: z.output<(typeof windowRequests)[Name]["says"]> };
interface Parser<Value> {
  parse(value: unknown): Value;
}

/** Each rejects with an `Error` whose message is shown to the user. */
export type WindowActions = { readonly [Name in WindowRequest]: (asked: Asked[Name]) => Promise<Said[Name]> };
/** The same in the window, with the session that the app shows; empty for none. */
export type AnsweredRequests = {
  readonly [Name in WindowRequest]: (asked: Asked[Name], sessionId: string) => Promise<Said[Name]>;
};

export type ReviewToApply = Asked["applyProposal"];
export type AppliedProposal = Said["applyProposal"];
export type CallToWatch = Asked["watchCall"];
export type ChosenModel = Asked["keepModel"];
export type EditorModel = Said["listEditorModels"][number];

const parsers: {
  readonly [Name in WindowRequest]: { readonly asks: Parser<Asked[Name]>; readonly says: Parser<Said[Name]> };
} = windowRequests;

/** Asks a window by messages. @param send rejects with the window's message */
export function askedWindow(send: (name: WindowRequest, asked: unknown) => Promise<unknown>): WindowActions {
  const asks =
    <Name extends WindowRequest>(wanted: Name) =>
    async (asked: Asked[Name]): Promise<Said[Name]> =>
      parsers[wanted].says.parse(await send(wanted, asked));
  return {
    applyProposal: asks("applyProposal"),
    revertChangeSet: asks("revertChangeSet"),
    openFile: asks("openFile"),
    openRule: asks("openRule"),
    openDiff: asks("openDiff"),
    openText: asks("openText"),
    watchCall: asks("watchCall"),
    openChange: asks("openChange"),
    editorContext: asks("editorContext"),
    namesOfDropped: asks("namesOfDropped"),
    keepModel: asks("keepModel"),
    keepModelKey: asks("keepModelKey"),
    listEditorModels: asks("listEditorModels"),
    tryEditorModel: asks("tryEditorModel"),
    runHostCommand: asks("runHostCommand"),
  };
}

/** Answers one request; rejects too if it does not fit. */
export async function answeredByWindow<Name extends WindowRequest>(
  actions: AnsweredRequests,
  wanted: Name,
  asked: unknown,
  sessionId: string,
): Promise<unknown> {
  return actions[wanted](parsers[wanted].asks.parse(asked), sessionId);
}
